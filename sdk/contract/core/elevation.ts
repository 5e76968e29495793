import { z } from "zod";
import { shape } from "./endpoint.ts";
import { idOf, instant } from "./fields.ts";

export const elevationFlows = ["uac_intercept", "tech_jit_admin", "ai_tool_action"] as const;
export const elevationStatuses = [
  "pending",
  "approved",
  "auto_approved",
  "denied",
  "expired",
  "revoked",
  "actuating",
] as const;
/** Those in which somebody has, or is about to get, elevated rights. */
export const activeElevations = ["approved", "auto_approved", "actuating"] as const;
export const decisionSources = ["software_policy", "pam_rule", "human"] as const;
export const decisionWays = ["session_tap", "webauthn_platform"] as const;
/** How far the device has carried a decision out (docs/elevation-requests.md, "On the device"). */
export const enforcementStatuses = [
  "none",
  "pending_dispatch",
  "dispatched",
  "active",
  "failed",
  "cleanup_pending",
  "cleaned",
  "cleanup_failed",
] as const;
export const elevationEvents = [
  "requested",
  "auto_approved",
  "approved",
  "denied",
  "expired",
  "revoked",
  "command_executed",
  "activated",
  "cleaned",
  "evidence_attached",
] as const;

/** Minutes of a window that is opened without saying for how long. */
export const WINDOW_MINUTES = 15;
export const WINDOW_MINUTES_MAX = 1_440;

const text = () => z.string().nullable();

/** A request for elevated rights, and what has become of it (docs/elevation-requests.md, "A request"). */
export const Elevation = shape("Elevation", () =>
  z.object({
    id: idOf("elevation-request"),
    orgId: idOf("organization"),
    siteId: idOf("site").nullable().describe("where the device stands today"),
    siteName: text(),
    deviceId: idOf("device").nullable().describe("null: the device has left the organization"),
    deviceHostname: text(),
    flowType: z.enum(elevationFlows),
    status: z.enum(elevationStatuses),
    subjectUsername: z.string().describe("who is to be elevated"),
    subjectUserId: idOf("user").nullable().describe("who asked for themselves"),
    reason: text(),
    targetExecutablePath: text(),
    targetExecutableHash: text().describe("SHA-256"),
    targetExecutableSigner: text(),
    targetExecutableSignerThumbprint: text().describe("SHA-256 of the certificate"),
    parentImage: text(),
    commandLine: text(),
    requestedAt: instant(),
    waitsUntil: instant().nullable().describe("when it expires unless somebody decides; null: it does not wait"),
    approvedAt: instant().nullable(),
    expiresAt: instant().nullable().describe("end of the window"),
    expiredAt: instant().nullable(),
    revokedAt: instant().nullable(),
    approvedByName: text(),
    deniedByName: text(),
    revokedByName: text(),
    denialReason: text(),
    revokedReason: text(),
    matchedPolicyName: text(),
    pamRuleId: z.string().nullable(),
    pamRuleName: text(),
    decisionSource: z.enum(decisionSources).nullable(),
    enforcementStatus: z.enum(enforcementStatuses),
    enforcementError: text(),
    decidedAssuranceLevel: z.int().nullable().describe("1 to 4"),
    decidedVia: z.enum(decisionWays).nullable(),
    toolName: text(),
    riskTier: z.int().nullable().describe("0 to 4"),
    actionDigest: text(),
    toolInput: z.unknown().nullable(),
    toolTargets: z
      .array(z.object({ deviceId: z.string(), hostname: z.string(), siteId: z.string().nullable() }))
      .nullable(),
    scriptName: text(),
    scriptSha256: text(),
    requestedByName: text(),
    requestedDurationMinutes: z.int().nullable(),
  }),
);

/** One line of the ledger of a request. */
export const ElevationEvent = shape("ElevationEvent", () =>
  z.object({
    event: z.enum(elevationEvents),
    at: instant(),
    actorType: z.enum(["user", "agent", "api_key", "system"]),
    actorName: text(),
    details: z.record(z.string(), z.unknown()),
  }),
);
