import { z } from "zod";
import { open, staff } from "../../core/access.ts";
import { AssertionOptions, base64url, Registration, RegistrationOptions, tierNames } from "../../core/authenticator.ts";
import { del, get, type Noun, post, put, resource, shape } from "../../core/endpoint.ts";
import { type FieldMeta, idOf, instant, link, ref, secret, success, text, timestamp } from "../../core/fields.ts";
import { whole, wholeOf } from "../../core/page.ts";

/** A device that its person approves with (docs/approver-devices.md). */
export const ApproverDevice = shape("ApproverDevice", () =>
  z.object({
    id: idOf("approver-device"),
    label: z.string(),
    isPlatformBound: z.boolean().describe("its key stays on this one machine"),
    transports: z.array(z.string()),
    createdAt: instant(),
    lastUsedAt: instant().nullable(),
  }),
);

const level = () => z.int().min(1).max(4);
const floors = () => z.strictObject(Object.fromEntries(tierNames.map((name) => [name, level().optional()])));

/** What a partner demands of approvals in its organizations (docs/approver-devices.md, "Policy of a partner"). */
export const AuthenticatorPolicy = shape("AuthenticatorPolicy", () =>
  z.object({
    floorOverrides: floors().describe("level by the name of a tier"),
    requireEnrollment: z.boolean(),
    enforceFrom: instant().nullable().describe("null: at once"),
  }),
);

const about: Noun = {
  name: "approver-devices",
  summary: "Own devices that prove approvals, and what a partner demands of them",
  thing: "approver-device",
  kinds: { "approver-device": { names: ["label"], example: "laptop" } },
  audits: [
    "auth.authenticator.device.register",
    "auth.authenticator.device.revoke",
    "auth.authenticator.policy.update",
  ],
};

/** The devices are the person's in every tenant (docs/sign-in.md, "Home sessions"). */
const own = ["HOME_SESSION_REQUIRED"] as const;
const proven = [...own, "reauth_required"] as const;
const password = () => secret(z.string().min(1).max(512));
const code = () => secret(z.string().min(1).max(64));
const whoAmI = () => ({
  currentPassword: password().optional().describe("own password"),
  mfaCode: code().optional().describe("code of the authenticator app, where the account has no password"),
});

export const approverDevices = resource(about, {
  registrationOptions: post("/authenticator/devices/webauthn/options", {
    summary: "Begin to register this machine as an approver device",
    description: "The challenge is good for five minutes, once, in this session; a newer one voids it.",
    access: staff().withMfa(),
    audit: { none: "nothing is registered yet; that is audited as auth.authenticator.device.register" },
    errors: [...proven, "LIMIT_REACHED", "NOT_CONFIGURED"],
    loses: "nothing",
    bodyOptional: true,
    body: () => z.strictObject(whoAmI()),
    returns: () =>
      z.object({ options: RegistrationOptions(), pageUrl: link().describe("page that a browser registers on") }),
  }),
  verify: post("/authenticator/devices/webauthn/verify", {
    summary: "Register the approver device that answered the options",
    access: staff().withMfa(),
    audit: "auth.authenticator.device.register",
    status: 201,
    makes: "approver-device",
    errors: [...own, "INVALID_TOKEN", "DUPLICATE", "LIMIT_REACHED", "NOT_CONFIGURED"],
    loses: "nothing",
    body: () =>
      z.strictObject({
        response: Registration().meta({ description: "what the browser answered" } satisfies FieldMeta),
        label: text(255)
          .optional()
          .meta({ description: "what you call it", example: "laptop" } satisfies FieldMeta),
      }),
    returns: ApproverDevice,
  }),
  list: get("/authenticator/devices", {
    summary: "List your approver devices, the oldest first",
    access: staff(),
    errors: own,
    paging: whole,
    columns: ["label", "isPlatformBound", "lastUsedAt", "createdAt", "id"],
    returns: () => wholeOf(ApproverDevice()),
  }),
  remove: del("/authenticator/devices/:id", {
    summary: "Remove one of your approver devices, for good",
    access: staff().withMfa(),
    audit: "auth.authenticator.device.revoke",
    errors: [...proven, "NOT_FOUND"],
    bodyOptional: true,
    body: () => z.strictObject(whoAmI()),
    returns: success,
  }),
  policy: get("/authenticator/policy", {
    summary: "Show what a partner demands of approvals in its organizations",
    access: staff("partner", "system").needs("users:read"),
    errors: ["PARTNER_ID_REQUIRED", "PARTNER_ACCESS_DENIED", "NOT_FOUND"],
    query: () => z.object({ partnerId: ref("partner").optional().describe("required in system scope") }),
    returns: AuthenticatorPolicy,
  }),
  replacePolicy: put("/authenticator/policy", {
    summary: "Say what your partner demands of approvals in its organizations",
    description: "Replaces everything. Floors are only raised; to stop demanding takes your password once more.",
    access: staff("partner").needs("users:write").withFullPartnerAccess().withMfa(),
    audit: "auth.authenticator.policy.update",
    errors: [...proven, "FLOOR_CANNOT_BE_LOWERED"],
    body: () =>
      z.strictObject({
        floorOverrides: floors().default({}).describe("higher levels than the usual: 1 to 4 by the name of a tier"),
        requireEnrollment: z.boolean().default(false).describe("whether approvals below their level are refused"),
        enforceFrom: timestamp().nullable().default(null).describe("when that begins, within 90 days; null: at once"),
        reauthPassword: password().optional().describe("own password, to stop demanding"),
        reauthMfaCode: code().optional().describe("code of the authenticator app instead"),
      }),
    returns: AuthenticatorPolicy,
  }),
  page: get("/authenticator/page", {
    own: "the page on which a browser asks the authenticator for the command line, as it must be of the server's own origin",
    summary: "A page that signs with an approver device for the waiting command line",
    access: open(),
    transport: "html",
    query: () =>
      z.object({
        port: z.string().optional().describe("port that the command listens on"),
        state: z.string().optional().describe("state that the command chose"),
        done: z.string().optional().describe("how it ended"),
      }),
    returns: () => z.string(),
  }),
  pageFacts: post("/authenticator/page/facts", {
    own: "what the page shows of a challenge, told by the server and not by the address that opened it",
    summary: "Read what a challenge is for",
    description: "Whoever has a challenge may read what it is for, until it is used or has ended.",
    access: open(),
    audit: { none: "reads what the challenge of the caller is about, and changes nothing" },
    errors: ["INVALID_TOKEN", "NOT_CONFIGURED"],
    loses: "nothing",
    body: () => z.strictObject({ challenge: secret(base64url(43)).describe("challenge of the options") }),
    returns: () =>
      z.object({
        account: z.string().describe("address of the person who is asked"),
        facts: z
          .array(z.object({ name: z.string(), value: z.string() }))
          .describe("what is decided on; of a registration none"),
        registration: RegistrationOptions().omit({ challenge: true }).nullable(),
        assertion: AssertionOptions().omit({ challenge: true }).nullable(),
      }),
  }),
});
