import type {
  decisionSources,
  decisionWays,
  elevationEvents,
  elevationFlows,
  elevationStatuses,
  enforcementStatuses,
} from "#contract/core/elevation";
import type { Fixed, Json } from "../column-types.ts";

/**
 * A request for elevated rights. What somebody decides on never changes after the insert, which the database itself
 * refuses (docs/elevation-requests.md, "A request").
 */
export interface ElevationRequestsTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  /** Null once the device has left the organization; its name stays. */
  deviceId: string | null;
  deviceHostname: Fixed<string | null>;
  flowType: Fixed<(typeof elevationFlows)[number]>;
  status: (typeof elevationStatuses)[number];
  subjectUsername: Fixed<string>;
  subjectUserId: Fixed<string | null>;
  reason: Fixed<string | null>;
  targetExecutablePath: Fixed<string | null>;
  targetExecutableHash: Fixed<string | null>;
  targetExecutableSigner: Fixed<string | null>;
  targetExecutableSignerThumbprint: Fixed<string | null>;
  parentImage: Fixed<string | null>;
  commandLine: Fixed<string | null>;
  requestedByName: Fixed<string | null>;
  requestedDurationMinutes: Fixed<number | null>;
  requestedAt: Fixed<string>;
  toolName: Fixed<string | null>;
  /** 0 to 4; of a request for an account it can only rise, when it is decided. */
  riskTier: number | null;
  actionDigest: Fixed<string | null>;
  toolInput: Fixed<Json | null>;
  toolTargets: Fixed<{ deviceId: string; hostname: string; siteId: string | null }[] | null>;
  scriptName: Fixed<string | null>;
  scriptSha256: Fixed<string | null>;
  /** Of every field of the report: the same report again is answered with this row. */
  reportDigest: Fixed<string | null>;
  approvedAt: string | null;
  approvedBy: string | null;
  approvedByName: string | null;
  deniedBy: string | null;
  deniedByName: string | null;
  denialReason: string | null;
  expiresAt: string | null;
  expiredAt: string | null;
  revokedAt: string | null;
  revokedBy: string | null;
  revokedByName: string | null;
  revokedReason: string | null;
  matchedPolicyName: string | null;
  pamRuleId: string | null;
  pamRuleName: string | null;
  decisionSource: (typeof decisionSources)[number] | null;
  decidedAssuranceLevel: number | null;
  decidedVia: (typeof decisionWays)[number] | null;
  enforcementStatus: (typeof enforcementStatuses)[number];
  enforcementError: string | null;
  /** The machine that may hold the rights, wherever it is now: it is told to end them. */
  cleanupDeviceId: string | null;
  /** How often it was told. */
  cleanupTries: number;
  /** When approvers were told that it waits. */
  announcedAt: string | null;
}

/** What has happened to a request, in order; lines are added and never changed. */
export interface ElevationAuditTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  elevationRequestId: Fixed<string>;
  /** Counts the lines of a request from 1. */
  position: Fixed<number>;
  event: Fixed<(typeof elevationEvents)[number]>;
  at: Fixed<string>;
  actorType: Fixed<"user" | "agent" | "api_key" | "system">;
  actorId: Fixed<string | null>;
  actorName: Fixed<string | null>;
  facts: Fixed<Json>;
}

/** Devices that were servers; kept by the database. */
export interface ElevationServerDevicesTable {
  deviceId: Fixed<string>;
  until: Fixed<string>;
}
