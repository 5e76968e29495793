import { z } from "zod";
import { agent, staff } from "../../core/access.ts";
import { AssertionOptions, Proof } from "../../core/authenticator.ts";
import {
  activeElevations,
  Elevation,
  ElevationEvent,
  elevationFlows,
  elevationStatuses,
  enforcementStatuses,
  WINDOW_MINUTES,
  WINDOW_MINUTES_MAX,
} from "../../core/elevation.ts";
import { ElevationReport, REPORT_BYTES_MAX } from "../../core/elevation-report.ts";
import { create, get, type Noun, post, resource } from "../../core/endpoint.ts";
import { bound, type FieldMeta, idOf, instant, link, ref, secret, text } from "../../core/fields.ts";
import { pageQuery } from "../../core/page.ts";

const about: Noun = {
  name: "elevation-requests",
  summary: "Requests for elevated rights on devices, and what is decided of them",
  thing: "elevation-request",
  kinds: { "elevation-request": { label: "subjectUsername" } },
  audits: [
    "pam.elevation_request.create",
    "pam.elevation_request.approve",
    "pam.elevation_request.deny",
    "pam.elevation_request.revoke",
    "pam.elevation_request.expired",
    "device.elevation.actuate",
    "device.elevation.actuate.rejected",
    "agent.elevation_request.submit",
    "agent.elevation_request.ignored",
  ],
};

const readers = staff().needs("devices:read");
/** Also where their partner is not active: rights are taken back and denied everywhere. */
const deciders = staff().needs("pam:approve").withMfa().exemptFrom("partnerGuard");
const minutes = () => z.int().min(1).max(WINDOW_MINUTES_MAX);
const why = (description: string, example: string) => text(2_000).meta({ description, example } satisfies FieldMeta);
const decided = () =>
  z.object({
    success: z.literal(true),
    id: idOf("elevation-request"),
    status: z.enum(elevationStatuses),
    enforcementStatus: z.enum(enforcementStatuses),
  });

export const elevationRequests = resource(about, {
  list: get("/pam/elevation-requests", {
    summary: "List requests for elevated rights, the newest first",
    description: "Decided and ended ones too: none is ever removed.",
    access: readers,
    errors: ["ORG_ACCESS_DENIED", "SITE_ACCESS_DENIED"],
    paging: { kind: "page", items: "requests" },
    columns: ["status", "deviceHostname", "subjectUsername", "targetExecutablePath", "requestedAt", "expiresAt", "id"],
    query: () =>
      z.object({
        ...pageQuery(),
        status: z.enum(elevationStatuses).optional().describe("only those in this status"),
        flowType: z.enum(elevationFlows).optional().describe("only those that came this way"),
        orgId: ref("organization").optional().describe("only those of this organization"),
        deviceId: ref("device").optional().describe("only those of this device"),
        siteId: ref("site").optional().describe("only those of devices that stand at this site today"),
        from: bound("from").optional().describe("requested then or later"),
        to: bound("to").optional().describe("requested then or earlier"),
      }),
    returns: () =>
      z.object({
        success: z.literal(true),
        requests: z.array(Elevation()),
        pagination: z.object({ page: z.int(), limit: z.int(), total: z.int() }),
      }),
  }),
  active: get("/pam/active", {
    summary: "List the elevated rights of this moment, the last approved first",
    description: `At most 500, with status ${activeElevations.join(", ")} and a window that is open.`,
    access: readers,
    paging: { kind: "whole", items: "active" },
    columns: ["deviceHostname", "subjectUsername", "status", "enforcementStatus", "expiresAt", "approvedByName", "id"],
    returns: () => z.object({ success: z.literal(true), active: z.array(Elevation()) }),
  }),
  create: create("/pam/elevation-requests", {
    summary: "Ask for administrator rights on a device for yourself, for a while",
    description: "Somebody else decides; rules never do.",
    access: staff().needs("devices:execute").withMfa(),
    audit: "pam.elevation_request.create",
    emits: ["elevation.requested"],
    errors: [
      "NOT_FOUND",
      "SITE_ACCESS_DENIED",
      "DEVICE_DECOMMISSIONED",
      "INVALID_STATE",
      "ORG_READ_ONLY",
      "ORG_SUSPENDED",
      "ALREADY_PENDING",
    ],
    body: () =>
      z.strictObject({
        deviceId: ref("device").describe("device to get the rights on"),
        flowType: z.literal("tech_jit_admin").describe("how the rights are given"),
        reason: why("what they are needed for", "Replace the printer driver"),
        subjectUsername: text(255)
          .optional()
          .meta({ description: "account to elevate; absent: the agent's own dormant one", example: "svc-admin" }),
        durationMinutes: minutes().optional().describe(`how long the rights last, ${WINDOW_MINUTES} unless given`),
      }),
    returns: () => z.object({ success: z.literal(true), request: Elevation() }),
  }),
  get: get("/pam/elevation-requests/:id", {
    summary: "Show a request for elevated rights with everything that has happened to it",
    access: readers,
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED"],
    returns: () => Elevation().extend({ events: z.array(ElevationEvent()) }),
  }),
  assertionChallenge: post("/pam/elevation-requests/:id/assertion-challenge", {
    summary: "Begin to prove an approval with an approver device",
    description:
      "The challenge is good for 120 seconds, once, in this session and for this request; a newer one voids it.",
    access: staff().needs("devices:execute").orInstead("pam:approve"),
    audit: { none: "decides nothing; the decision that brings the proof is audited" },
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED", "NOT_CONFIGURED"],
    loses: "nothing",
    returns: () => z.object({ options: AssertionOptions(), pageUrl: link().describe("page that a browser signs on") }),
  }),
  respond: post("/pam/elevation-requests/:id/respond", {
    summary: "Approve or deny a request for elevated rights",
    description: "The first decision counts. Nobody approves their own request; a denial is never held up.",
    access: deciders,
    audit: "pam.elevation_request.deny",
    mayEmit: ["elevation.approved", "elevation.denied", "elevation.expired"],
    errors: [
      "NOT_FOUND",
      "SITE_ACCESS_DENIED",
      "INVALID_STATE",
      "EXECUTION_TIMED_OUT",
      "SELF_APPROVAL",
      "DEVICE_DECOMMISSIONED",
      "ORG_READ_ONLY",
      "ORG_SUSPENDED",
      "HOME_SESSION_REQUIRED",
      "STEP_UP_REQUIRED",
      "ASSERTION_FAILED",
      "reauth_required",
    ],
    loses: "nothing",
    body: () =>
      z.strictObject({
        decision: z.enum(["approve", "deny"]).describe("what is decided"),
        reason: why("why; kept with the decision", "Not a tool that we use").optional(),
        durationMinutes: minutes().optional().describe("how long the rights last; else as asked for, else 15"),
        proof: Proof().optional().describe("assertion of an approver device"),
        reauthPassword: secret(z.string().min(1).max(512)).optional().describe("own password, at the highest risk"),
        reauthMfaCode: secret(z.string().min(1).max(64)).optional().describe("code of the authenticator app instead"),
      }),
    returns: decided,
  }),
  revoke: post("/pam/elevation-requests/:id/revoke", {
    summary: "Take elevated rights back before their window ends",
    access: deciders,
    audit: "pam.elevation_request.revoke",
    emits: ["elevation.revoked"],
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED", "INVALID_STATE"],
    loses: "work",
    body: () => z.strictObject({ reason: why("why they are taken back", "Work is done") }),
    returns: decided,
  }),
  actuate: post("/devices/:id/actuate-elevation", {
    summary: "Tell a device to carry an approved request out, once",
    access: staff().needs("devices:execute").withMfa(),
    audit: "device.elevation.actuate",
    status: 201,
    errors: [
      "NOT_FOUND",
      "SITE_ACCESS_DENIED",
      "DEVICE_DECOMMISSIONED",
      "INVALID_STATE",
      "ORG_READ_ONLY",
      "ORG_SUSPENDED",
      "ACTUATOR_DISABLED",
      "wrong_status",
      "race_lost",
    ],
    loses: "nothing",
    refs: { id: "device" },
    body: () =>
      z.strictObject({
        elevationRequestId: ref("elevation-request").describe("request that was approved"),
        timeoutMs: z.int().min(1_000).max(60_000).default(8_000).describe("how long the agent waits for the prompt"),
      }),
    returns: () =>
      z.object({
        id: idOf("device-command"),
        deviceId: idOf("device"),
        type: z.literal("actuate_elevation"),
        status: z.string(),
        elevationRequestId: idOf("elevation-request"),
        createdAt: instant(),
      }),
  }),
  report: post("/agents/:id/elevation-requests", {
    summary: "Report a prompt for elevated rights, and learn what is decided of it",
    description:
      "Nothing of it is cut or left out: what is malformed or too long is refused as a whole. The same report again, within ten minutes, is answered with the first one's request.",
    from: "person",
    access: agent(),
    audit: "agent.elevation_request.submit",
    mayEmit: ["elevation.requested", "elevation.auto_approved", "elevation.denied"],
    loses: "nothing",
    status: 201,
    foundStatus: 200,
    errors: [
      "INVALID_AGENT_CREDENTIALS",
      "DEVICE_DECOMMISSIONED",
      "DEVICE_QUARANTINED",
      "TENANT_OFFBOARDING",
      "NOT_FOUND",
    ],
    bodyLimitBytes: REPORT_BYTES_MAX,
    ownLimit: true,
    refs: { id: "device" },
    params: () => z.object({ id: z.string().min(1).max(128) }),
    body: ElevationReport,
    returns: () =>
      z.object({
        id: idOf("elevation-request").nullable().describe("null: an ignore rule matched"),
        status: z.enum([...elevationStatuses, "ignored"]),
      }),
  }),
  status: get("/agents/:id/elevation-requests/:requestId", {
    summary: "Read what was decided of a request of this device",
    access: agent(),
    errors: ["INVALID_AGENT_CREDENTIALS", "DEVICE_DECOMMISSIONED", "DEVICE_QUARANTINED", "NOT_FOUND"],
    refs: { id: "device", requestId: "elevation-request" },
    params: () => z.object({ id: z.string().min(1).max(128), requestId: ref("elevation-request") }),
    returns: () =>
      z.object({
        id: idOf("elevation-request"),
        serverTime: instant(),
        flowType: z.enum(elevationFlows),
        status: z.enum(elevationStatuses),
        subjectUsername: z.string(),
        targetExecutablePath: z.string().nullable(),
        targetExecutableHash: z.string().nullable(),
        commandLine: z.string().nullable(),
        expiresAt: instant().nullable(),
      }),
  }),
});
