/** What can be wrong with a filter, in the order in which one of several is told (docs/filters.md, "Errors"). */
export const filterFaultCodes = [
  "FILTER_INVALID_STRUCTURE",
  "FILTER_UNKNOWN_FIELD",
  "FILTER_OPERATOR_NOT_ALLOWED",
  "FILTER_VALUE_REQUIRED",
  "FILTER_TYPE_MISMATCH",
  "FILTER_INVALID_REGEX",
  "FILTER_TOO_DEEP",
  "FILTER_TOO_LARGE",
] as const;

export interface Fault {
  readonly code: (typeof filterFaultCodes)[number];
  readonly message: string;
}
