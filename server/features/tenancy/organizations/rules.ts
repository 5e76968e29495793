import type { OrganizationStatus } from "#server/db/tables/tenancy";

/** States that only the server sets (contract 1 C2). */
export const serverSetStatuses: readonly OrganizationStatus[] = ["archived", "merging", "purging"];

/**
 * Status changes a PATCH may make (contract 1 C3); the same status again is a no-op. Nothing leads to
 * `offboarding` until devices can be told to uninstall: asking for it is refused rather than half done.
 */
export const transitions: Readonly<Record<OrganizationStatus, readonly OrganizationStatus[]>> = {
  active: ["trial", "suspended", "churned"],
  trial: ["active", "suspended", "churned"],
  suspended: ["active", "trial", "churned"],
  churned: ["active", "trial"],
  offboarding: [],
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
