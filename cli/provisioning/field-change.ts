/** What a provisioning file describes. */
export type ObjectKind = "organization" | "site" | "contact" | "enrollmentKey";

/** One field of an object, as the server has it and as the file wants it. */
export interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}
