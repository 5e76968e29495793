import { z } from "zod";
import { staff } from "../../core/access.ts";
import { create, get, type Noun, post, resource, shape } from "../../core/endpoint.ts";
import { type FieldMeta, instant, listedName, ref, text } from "../../core/fields.ts";
import { paged, pageOf, pageQuery } from "../../core/page.ts";
import { ApiKey, material, scopeList } from "./api-keys.ts";

export const servicePrincipalStatuses = ["active", "disabled"] as const;

/** Machine identity of an organization with at most one active API key (docs/credentials.md, "Service principals"). */
export const ServicePrincipal = shape("ServicePrincipal", () =>
  z.object({
    id: z.string(),
    orgId: z.string(),
    orgName: listedName(),
    name: z.string(),
    scopes: z.array(z.string()),
    status: z.enum(servicePrincipalStatuses),
    currentKey: z
      .object({
        id: z.string(),
        keyPrefix: z.string(),
        createdAt: instant(),
        lastUsedAt: instant().nullable(),
      })
      .nullable()
      .describe("its active key"),
    createdBy: z.string().nullable(),
    lastUpdatedBy: z.string().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
  }),
);

const readers = staff().needs("organizations:read");
const writers = staff().needs("organizations:write").withMfa();

const about: Noun = {
  name: "service-principals",
  summary: "Identities of an organization that own keys and are no person",
  thing: "service-principal",
  kinds: { "service-principal": { names: ["name"], example: "ci" } },
  audits: [
    "service_principal.create",
    "service_principal.rotate_key",
    "service_principal.disable",
    "service_principal.migrate_key",
  ],
};

export const servicePrincipals = resource(about, {
  list: get("/service-principals", {
    summary: "List service principals",
    access: readers,
    errors: ["ORG_ACCESS_DENIED"],
    paging: paged,
    columns: ["name", "status", "orgName", "scopes", "currentKey.lastUsedAt", "currentKey.keyPrefix", "id"],
    query: () =>
      z.object({
        ...pageQuery(),
        orgId: ref("organization").optional().describe("only those of this organization"),
        status: z.enum(servicePrincipalStatuses).optional().describe("only those in this status"),
      }),
    returns: () => pageOf(ServicePrincipal()),
  }),
  create: create("/service-principals", {
    summary: "Create a service principal",
    description: "It has no key yet: `rotate` makes the first one.",
    access: writers,
    audit: "service_principal.create",
    errors: [
      "ORG_ACCESS_DENIED",
      "ORG_CONTEXT_REQUIRED",
      "SITE_ACCESS_DENIED",
      "WILDCARD_SCOPE",
      "UNSUPPORTED_SCOPE",
      "SCOPE_DELEGATION_DENIED",
      "NAME_TAKEN",
      "ORG_READ_ONLY",
    ],
    body: () =>
      z.strictObject({
        orgId: ref("organization").describe("organization that it acts in"),
        name: text(255).meta({ description: "display name", example: "ci" } satisfies FieldMeta),
        scopes: scopeList().default([]).describe("what its keys may do"),
      }),
    returns: ServicePrincipal,
  }),
  get: get("/service-principals/:id", {
    summary: "Show a service principal",
    access: readers,
    errors: ["NOT_FOUND"],
    returns: ServicePrincipal,
  }),
  rotate: post("/service-principals/:id/rotate", {
    summary: "Create a new key; the previous one stops working immediately",
    access: writers,
    audit: "service_principal.rotate_key",
    loses: "secret",
    idempotent: true,
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED", "INVALID_STATE", "SCOPE_DELEGATION_DENIED", "ORG_READ_ONLY"],
    returns: () => z.object({ apiKeyId: z.string(), keyPrefix: z.string(), ...material() }),
  }),
  disable: post("/service-principals/:id/disable", {
    summary: "Disable for good, and revoke its keys",
    access: writers,
    audit: "service_principal.disable",
    loses: "secret",
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED"],
    returns: ServicePrincipal,
  }),
  migrateKey: post("/service-principals/:id/migrate-key", {
    summary: "Make an existing API key this principal's own",
    description:
      "The key keeps the scopes that the principal also has. The principal's previous key stops working immediately.",
    access: writers,
    audit: "service_principal.migrate_key",
    loses: "nothing",
    errors: [
      "NOT_FOUND",
      "SITE_ACCESS_DENIED",
      "KEY_IN_OTHER_ORG",
      "INVALID_STATE",
      "SCOPE_DELEGATION_DENIED",
      "ORG_READ_ONLY",
    ],
    body: () => z.strictObject({ keyId: ref("api-key").describe("key that becomes its own") }),
    returns: ApiKey,
  }),
});
