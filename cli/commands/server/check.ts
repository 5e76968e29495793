/** One thing that was looked at, and what to do where it is not well. */
export interface Check {
  check: string;
  status: "ok" | "warn" | "fail" | "skip";
  message: string;
  remedy?: string;
}
