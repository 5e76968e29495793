import { z } from "zod";
import { staff } from "../../core/access.ts";
import { create, del, get, type Noun, patch, post, resource, shape } from "../../core/endpoint.ts";
import { type FieldMeta, idOf, instant, listedName, ref, secret, success, text, timestamp } from "../../core/fields.ts";
import { apiKeyScopes } from "../../core/key-scopes.ts";
import { paged, pageOf, pageQuery } from "../../core/page.ts";

export const apiKeyStatuses = ["active", "expired", "revoked"] as const;

/** API key without its material (docs/credentials.md, "API keys"). */
export const ApiKey = shape("ApiKey", () =>
  z.object({
    id: idOf("api-key"),
    orgId: idOf("organization"),
    orgName: listedName(),
    name: z.string(),
    keyPrefix: z.string(),
    scopes: z.array(z.string()),
    expiresAt: instant().nullable(),
    rateLimit: z.int().describe("requests per hour"),
    status: z.enum(apiKeyStatuses),
    principalType: z.enum(["human", "service"]),
    principalId: z.string().nullable(),
    createdBy: z.string().nullable(),
    lastUsedAt: instant().nullable(),
    usageCount: z.int(),
    keyIssuedAt: instant().describe("when the current key was created or last rotated"),
    createdAt: instant(),
    updatedAt: instant(),
  }),
);

/** Shown once. */
export const material = () => ({ key: secret(), warning: z.string() });

/** Any text: an unknown scope is answered `UNSUPPORTED_SCOPE`, which a schema could not say. */
export const scopeList = () =>
  z
    .array(z.string().max(100))
    .max(100)
    .meta({ published: { type: "array", items: { type: "string", enum: [...apiKeyScopes] } } } satisfies FieldMeta);
const name = () => text(255).meta({ description: "display name", example: "backup-job" } satisfies FieldMeta);
const rateLimit = () => z.int().min(1).max(100_000).describe("requests per hour");
const readers = staff().needs("organizations:read");
const writers = staff().needs("organizations:write").withMfa();

const about: Noun = {
  name: "api-keys",
  summary: "Machine credentials of an organization",
  thing: "api-key",
  kinds: { "api-key": { names: ["name"], example: "backup-job" } },
  audits: ["api_key.create", "api_key.update", "api_key.rotate", "api_key.revoke", "api_key.refused"],
};

export const apiKeys = resource(about, {
  list: get("/api-keys", {
    summary: "List API keys",
    access: readers,
    errors: ["ORG_ACCESS_DENIED"],
    paging: paged,
    columns: ["name", "status", "orgName", "scopes", "lastUsedAt", "expiresAt", "keyPrefix", "id"],
    query: () =>
      z.object({
        ...pageQuery(),
        orgId: ref("organization").optional().describe("only those of this organization"),
        status: z.enum(apiKeyStatuses).optional().describe("only those in this status"),
      }),
    returns: () => pageOf(ApiKey()),
  }),
  create: create("/api-keys", {
    summary: "Create an API key",
    access: writers,
    audit: "api_key.create",
    errors: [
      "ORG_ACCESS_DENIED",
      "ORG_CONTEXT_REQUIRED",
      "SITE_ACCESS_DENIED",
      "WILDCARD_SCOPE",
      "UNSUPPORTED_SCOPE",
      "SCOPE_DELEGATION_DENIED",
      "ORG_READ_ONLY",
    ],
    body: () =>
      z.strictObject({
        orgId: ref("organization").describe("organization that it acts in"),
        name: name(),
        scopes: scopeList().default([]).describe("what the key may do"),
        expiresAt: timestamp().nullable().default(null).describe("must be in the future; null: never expires"),
        rateLimit: rateLimit().default(1000),
      }),
    returns: () =>
      z.object({
        ...ApiKey().pick({
          id: true,
          orgId: true,
          name: true,
          keyPrefix: true,
          scopes: true,
          expiresAt: true,
          rateLimit: true,
          createdBy: true,
          createdAt: true,
          status: true,
        }).shape,
        ...material(),
      }),
  }),
  get: get("/api-keys/:id", {
    summary: "Show an API key",
    access: readers,
    errors: ["NOT_FOUND"],
    returns: ApiKey,
  }),
  update: patch("/api-keys/:id", {
    summary: "Change an active API key",
    access: writers,
    audit: "api_key.update",
    errors: [
      "NOT_FOUND",
      "NO_UPDATES",
      "SITE_ACCESS_DENIED",
      "API_KEY_NOT_ACTIVE",
      "WILDCARD_SCOPE",
      "UNSUPPORTED_SCOPE",
      "SCOPE_DELEGATION_DENIED",
      "ORG_READ_ONLY",
    ],
    body: () =>
      z
        .strictObject({ name: name(), scopes: scopeList().describe("what the key may do"), rateLimit: rateLimit() })
        .partial(),
    returns: ApiKey,
  }),
  revoke: del("/api-keys/:id", {
    summary: "Revoke an API key for good",
    access: writers,
    audit: "api_key.revoke",
    loses: "secret",
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED", "API_KEY_NOT_ACTIVE"],
    returns: () =>
      z.object({
        ...success().shape,
        apiKey: ApiKey().pick({ id: true, name: true, keyPrefix: true, status: true, updatedAt: true }),
      }),
  }),
  rotate: post("/api-keys/:id/rotate", {
    summary: "Replace the key material; the old key stops working immediately",
    access: writers,
    audit: "api_key.rotate",
    loses: "secret",
    idempotent: true,
    errors: [
      "NOT_FOUND",
      "SITE_ACCESS_DENIED",
      "API_KEY_NOT_ACTIVE",
      "SERVICE_PRINCIPAL_KEY",
      "SCOPE_DELEGATION_DENIED",
      "ORG_READ_ONLY",
    ],
    returns: () => z.object({ ...ApiKey().shape, ...material() }),
  }),
});
