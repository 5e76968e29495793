import type { Insertable } from "kysely";
import type { ElevationRequestsTable } from "#server/db/tables/elevation-requests";
import type { Tx } from "#server/db/unit-of-work";
import type { EventServices } from "#server/room-hooks";
import { type HeldElevation, heldColumns } from "./columns.ts";

const nothing = {
  subjectUserId: null,
  reason: null,
  targetExecutablePath: null,
  targetExecutableHash: null,
  targetExecutableSigner: null,
  targetExecutableSignerThumbprint: null,
  parentImage: null,
  commandLine: null,
  requestedByName: null,
  requestedDurationMinutes: null,
  toolName: null,
  riskTier: null,
  actionDigest: null,
  toolInput: null,
  toolTargets: null,
  scriptName: null,
  scriptSha256: null,
  reportDigest: null,
  approvedAt: null,
  approvedBy: null,
  approvedByName: null,
  deniedBy: null,
  deniedByName: null,
  denialReason: null,
  expiresAt: null,
  expiredAt: null,
  revokedAt: null,
  revokedBy: null,
  revokedByName: null,
  revokedReason: null,
  matchedPolicyName: null,
  pamRuleId: null,
  pamRuleName: null,
  decisionSource: null,
  decidedAssuranceLevel: null,
  decidedVia: null,
  enforcementStatus: "none",
  enforcementError: null,
  cleanupDeviceId: null,
  cleanupTries: 0,
  announcedAt: null,
} as const satisfies Partial<Insertable<ElevationRequestsTable>>;

type Row = Insertable<ElevationRequestsTable>;
export type NewElevation = Partial<Row> &
  Pick<Row, "orgId" | "deviceId" | "deviceHostname" | "flowType" | "status" | "subjectUsername">;

/** What is not given is nothing. Needs an unscoped transaction. */
export const insertElevation = (
  tx: Tx,
  { clock, random }: Pick<EventServices, "clock" | "random">,
  row: NewElevation,
): Promise<HeldElevation> =>
  tx
    .insertInto("elevationRequests")
    .values({ ...nothing, id: random.uuid(), requestedAt: clock.now(), ...row })
    .returning(heldColumns)
    .executeTakeFirstOrThrow();
