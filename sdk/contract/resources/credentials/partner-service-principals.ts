import { z } from "zod";
import { staff } from "../../core/access.ts";
import { create, del, get, type Noun, patch, post, resource, shape } from "../../core/endpoint.ts";
import { blankable, type FieldMeta, instant, ref, secret, success, text, timestamp } from "../../core/fields.ts";
import { partnerKeyScopes, partnerReadScopes } from "../../core/key-scopes.ts";
import { whole, wholeOf } from "../../core/page.ts";

/** Key of a partner service principal without its material (docs/credentials.md, "Partner keys"). */
export const PartnerKey = shape("PartnerKey", () =>
  z.object({
    id: z.string(),
    name: z.string(),
    keyPrefix: z.string(),
    status: z.enum(["active", "revoked"]),
    expiresAt: instant().nullable(),
    rateLimit: z.int().describe("requests per hour of this key; at most its principal's limit"),
    lastUsedAt: instant().nullable(),
    revokedAt: instant().nullable(),
    rotatedFromId: z.string().nullable(),
    createdAt: instant(),
  }),
);

/** Machine identity of a partner for the partner API (docs/credentials.md, "Partner service principals"). */
export const PartnerPrincipal = shape("PartnerPrincipal", () =>
  z.object({
    id: z.string(),
    partnerId: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    status: z.enum(["active", "disabled"]),
    scopes: z.array(z.string()),
    orgAccess: z.enum(["all", "selected"]),
    orgIds: z.array(z.string()),
    expiresAt: instant().nullable(),
    sourceCidrs: z.array(z.string()),
    rateLimit: z.int().describe("requests per hour of all its keys together"),
    createdBy: z.string().nullable(),
    updatedBy: z.string().nullable(),
    keys: z.array(PartnerKey()),
    createdAt: instant(),
    updatedAt: instant(),
  }),
);

/** Any text: an unknown scope is answered `UNSUPPORTED_SCOPE`, which a schema could not say. */
const scopeList = () =>
  z
    .array(z.string().max(100))
    .max(100)
    .meta({ published: { type: "array", items: { type: "string", enum: [...partnerKeyScopes] } } } satisfies FieldMeta);

const rateLimit = () => z.int().min(1).max(10_000);

const writable = () => ({
  name: text(255).meta({ description: "display name", example: "rollout" } satisfies FieldMeta),
  description: blankable(2000).describe("what it is for"),
  scopes: scopeList().describe("what its keys may do"),
  orgAccess: z.enum(["all", "selected"]).describe("organizations that it reaches"),
  orgIds: z.array(ref("organization")).max(1000).describe("for orgAccess `selected`"),
  expiresAt: timestamp().nullable().describe("must be in the future; null: never expires"),
  sourceCidrs: z
    .array(z.string().max(50))
    .max(50)
    .describe("IPv4 and IPv6 addresses and networks that its keys may be used from; empty: any"),
  rateLimit: rateLimit().describe("requests per hour of all its keys together"),
});

const minted = () => z.object({ keyId: z.string(), key: secret(), keyPrefix: z.string() });
const readers = staff("partner", "system").needs("organizations:read");
const writers = staff("partner", "system").needs("organizations:write").withFullPartnerAccess().withMfa();
const fieldErrors = [
  "WILDCARD_SCOPE",
  "UNSUPPORTED_SCOPE",
  "SCOPE_DELEGATION_DENIED",
  "ORG_IDS_REQUIRED",
  "ORG_IDS_NOT_ALLOWED",
  "ORG_NOT_IN_PARTNER",
  "NAME_TAKEN",
] as const;

const about: Noun = {
  name: "partner-service-principals",
  summary: "Identities of a partner for its provisioning and export API",
  thing: "partner-service-principal",
  kinds: {
    "partner-service-principal": { names: ["name"], example: "rollout" },
    "partner-key": { names: ["name"], example: "pipeline", within: "keys" },
  },
  audits: [
    "partner_service_principal.create",
    "partner_service_principal.update",
    "partner_service_principal_key.issue",
    "partner_service_principal_key.rotate",
    "partner_service_principal_key.revoke",
  ],
};

export const partnerServicePrincipals = resource(about, {
  list: get("/partner-service-principals", {
    summary: "List partner service principals with their keys, by name",
    access: readers,
    errors: ["PARTNER_ID_REQUIRED", "PARTNER_ACCESS_DENIED", "NOT_FOUND"],
    paging: whole,
    columns: ["name", "status", "scopes", "orgAccess", "expiresAt", "id"],
    query: () => z.object({ partnerId: ref("partner").optional().describe("required in system scope") }),
    returns: () => wholeOf(PartnerPrincipal()),
  }),
  create: create("/partner-service-principals", {
    summary: "Create a partner service principal",
    description: `Without scopes it reads: ${partnerReadScopes.join(", ")}. Scopes that write are granted only where they are listed.`,
    access: writers,
    audit: "partner_service_principal.create",
    errors: ["PARTNER_ID_REQUIRED", "PARTNER_ACCESS_DENIED", "NOT_FOUND", ...fieldErrors],
    body: () => {
      const fields = writable();
      return z.strictObject({
        partnerId: ref("partner").optional().describe("required in system scope"),
        name: fields.name,
        description: fields.description.default(null),
        scopes: fields.scopes.default([...partnerReadScopes]),
        orgAccess: fields.orgAccess.default("all"),
        orgIds: fields.orgIds.default([]),
        expiresAt: fields.expiresAt.default(null),
        sourceCidrs: fields.sourceCidrs.default([]),
        rateLimit: fields.rateLimit.default(600),
      });
    },
    returns: PartnerPrincipal,
  }),
  update: patch("/partner-service-principals/:id", {
    summary: "Change a partner service principal",
    access: writers,
    audit: "partner_service_principal.update",
    errors: ["NOT_FOUND", ...fieldErrors],
    body: () =>
      z
        .strictObject({ ...writable(), status: z.enum(["active", "disabled"]).describe("status to change to") })
        .partial(),
    returns: PartnerPrincipal,
  }),
  issueKey: create("/partner-service-principals/:id/keys", {
    summary: "Issue a key",
    access: writers,
    makes: "partner-key",
    audit: "partner_service_principal_key.issue",
    errors: ["NOT_FOUND", "INVALID_STATE", "SCOPE_DELEGATION_DENIED"],
    body: () =>
      z.strictObject({
        name: text(255).meta({ description: "display name of the key", example: "pipeline" } satisfies FieldMeta),
        expiresAt: timestamp().nullable().default(null).describe("must be in the future; null: never expires"),
        rateLimit: rateLimit()
          .optional()
          .describe("requests per hour of this key; default and maximum: its principal's limit"),
      }),
    returns: minted,
  }),
  rotateKey: post("/partner-service-principals/:id/keys/:keyId/rotate", {
    summary: "Replace a key; the old one stops working immediately",
    access: writers,
    audit: "partner_service_principal_key.rotate",
    status: 201,
    idempotent: true,
    loses: "secret",
    refs: { keyId: "partner-key" },
    errors: ["NOT_FOUND", "INVALID_STATE", "SCOPE_DELEGATION_DENIED"],
    returns: minted,
  }),
  revokeKey: del("/partner-service-principals/:id/keys/:keyId", {
    summary: "Revoke a key for good",
    access: writers,
    audit: "partner_service_principal_key.revoke",
    loses: "secret",
    refs: { keyId: "partner-key" },
    errors: ["NOT_FOUND"],
    returns: () => z.object({ ...success().shape, alreadyRevoked: z.boolean() }),
  }),
});
