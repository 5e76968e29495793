import type { OrganizationStatus } from "#server/db/tables/tenancy";

/** Statuses that only the server sets (docs/tenancy.md, "Status changes of an organization"). */
export const serverSetStatuses: readonly OrganizationStatus[] = ["archived", "merging", "purging"];

/**
 * Status changes that a PATCH may make (docs/tenancy.md, "Status changes of an organization"); the same status again
 * changes nothing.
 */
export const transitions: Readonly<Record<OrganizationStatus, readonly OrganizationStatus[]>> = {
  active: ["trial", "suspended", "churned", "offboarding"],
  trial: ["active", "suspended", "churned", "offboarding"],
  suspended: ["active", "trial", "churned", "offboarding"],
  churned: ["active", "trial"],
  offboarding: ["active", "trial", "churned"],
  archived: [],
  merging: [],
  purging: [],
};

export type StatusDecision = "keep" | "change" | "INVALID_STATUS" | "INVALID_TRANSITION";

/** What a PATCH of the status does. */
export function decideStatus(from: OrganizationStatus, to: OrganizationStatus | undefined): StatusDecision {
  if (to === undefined || to === from) return "keep";
  if (serverSetStatuses.includes(to)) return "INVALID_STATUS";
  return transitions[from].includes(to) ? "change" : "INVALID_TRANSITION";
}
