import type { Selectable } from "kysely";
import type { ElevationRequestsTable } from "#server/db/tables/elevation-requests";

/** What decides and tells of a request; the rest is only shown. */
const deciding = [
  "id",
  "orgId",
  "deviceId",
  "deviceHostname",
  "flowType",
  "status",
  "subjectUsername",
  "subjectUserId",
  "requestedAt",
  "requestedDurationMinutes",
  "toolName",
  "riskTier",
  "decisionSource",
  "expiresAt",
  "enforcementStatus",
] as const;

/** Of a row that is held to be changed. */
export const heldColumns = [...deciding, "cleanupDeviceId", "cleanupTries"] as const;

export type HeldElevation = Pick<Selectable<ElevationRequestsTable>, (typeof heldColumns)[number]>;

/** Everything that the API shows, but for where the device stands today. */
export const shownColumns = [
  ...deciding.map((name) => `elevationRequests.${name}` as const),
  "elevationRequests.reason",
  "elevationRequests.targetExecutablePath",
  "elevationRequests.targetExecutableHash",
  "elevationRequests.targetExecutableSigner",
  "elevationRequests.targetExecutableSignerThumbprint",
  "elevationRequests.parentImage",
  "elevationRequests.commandLine",
  "elevationRequests.approvedAt",
  "elevationRequests.expiredAt",
  "elevationRequests.revokedAt",
  "elevationRequests.approvedByName",
  "elevationRequests.deniedByName",
  "elevationRequests.revokedByName",
  "elevationRequests.denialReason",
  "elevationRequests.revokedReason",
  "elevationRequests.matchedPolicyName",
  "elevationRequests.pamRuleId",
  "elevationRequests.pamRuleName",
  "elevationRequests.enforcementError",
  "elevationRequests.decidedAssuranceLevel",
  "elevationRequests.decidedVia",
  "elevationRequests.actionDigest",
  "elevationRequests.toolInput",
  "elevationRequests.toolTargets",
  "elevationRequests.scriptName",
  "elevationRequests.scriptSha256",
  "elevationRequests.requestedByName",
] as const;
