/** The result of one check, with a remedy if it did not pass. */
export interface Check {
  check: string;
  status: "ok" | "warn" | "fail" | "skip";
  message: string;
  remedy?: string;
}
