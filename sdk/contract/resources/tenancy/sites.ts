import { z } from "zod";
import { staff } from "../../core/access.ts";
import { namesOneRegion, regionMismatch, withRegion } from "../../core/address.ts";
import { create, del, get, type Noun, patch, resource, shape } from "../../core/endpoint.ts";
import { type FieldMeta, freeObject, instant, listedName, ref, success, text, timezone } from "../../core/fields.ts";
import { paged, pageOf, pageQuery } from "../../core/page.ts";

/** Site (docs/tenancy.md, "Sites"). */
export const Site = shape("Site", () =>
  z.object({
    id: z.string(),
    orgId: z.string(),
    orgName: listedName(),
    name: z.string(),
    address: z.record(z.string(), z.unknown()).nullable(),
    timezone: z.string(),
    contact: z.record(z.string(), z.unknown()).nullable(),
    settings: z.record(z.string(), z.unknown()),
    deviceCount: z.int().optional().describe("lists only"),
    createdAt: instant(),
    updatedAt: instant(),
  }),
);

const address = () =>
  freeObject()
    .refine(namesOneRegion, { path: ["state"], message: regionMismatch })
    .transform(withRegion)
    .meta({ published: { type: "object", additionalProperties: true } } satisfies FieldMeta)
    .nullable()
    .meta({
      description: "line1, line2, city, region, postalCode, country and any others; state is read as region",
      example: { line1: "Gran Via 1", city: "Bilbao", country: "ES" },
    } satisfies FieldMeta);

const writable = () => ({
  name: text(255).meta({ description: "display name", example: "HQ" } satisfies FieldMeta),
  timezone: timezone().describe("IANA time zone: Europe/Madrid"),
  address: address(),
  contact: freeObject()
    .nullable()
    .meta({
      description: "whom to ask on site",
      example: { name: "Ana", phone: "+34 944 000 000" },
    } satisfies FieldMeta),
  settings: freeObject().meta({
    description: "settings by key",
    example: { language: "en" },
  } satisfies FieldMeta),
});

const about: Noun = {
  name: "sites",
  summary: "Places of an organization",
  thing: "site",
  kinds: { site: { names: ["name"], example: "HQ" } },
  audits: ["site.create", "site.update", "site.delete"],
};

export const sites = resource(about, {
  list: get("/orgs/sites", {
    summary: "List sites",
    access: staff().needs("sites:read"),
    errors: ["ORG_ACCESS_DENIED"],
    paging: paged,
    columns: ["name", "orgName", "timezone", "deviceCount", "createdAt", "id"],
    query: () =>
      z
        .object({
          ...pageQuery(),
          orgId: ref("organization").optional().describe("only those of this organization"),
          organizationId: ref("organization").optional().describe("the same as orgId"),
        })
        .refine(({ orgId, organizationId }) => !orgId || !organizationId || orgId === organizationId, {
          path: ["organizationId"],
          message: "must be the same as orgId",
        }),
    returns: () => pageOf(Site()),
  }),
  create: create("/orgs/sites", {
    summary: "Create a site",
    access: staff().needs("sites:write").withMfa(),
    emits: ["site.created"],
    audit: "site.create",
    errors: ["ORG_ID_REQUIRED", "ORG_CONTEXT_REQUIRED", "ORG_ACCESS_DENIED", "SITE_ACCESS_DENIED", "ORG_READ_ONLY"],
    body: () => {
      const fields = writable();
      return z.object({
        orgId: ref("organization").optional().describe("required in partner and system scope"),
        name: fields.name,
        timezone: fields.timezone.default("UTC"),
        address: fields.address.default(null),
        contact: fields.contact.default(null),
        settings: fields.settings.default({}),
      });
    },
    returns: Site,
  }),
  get: get("/orgs/sites/:id", {
    summary: "Show a site",
    access: staff().needs("sites:read"),
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED"],
    returns: Site,
  }),
  update: patch("/orgs/sites/:id", {
    summary: "Change a site",
    access: staff().needs("sites:write").withMfa(),
    mayEmit: ["site.updated"],
    audit: "site.update",
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED", "FIELD_IMMUTABLE", "NO_UPDATES", "ORG_READ_ONLY"],
    body: () => z.object({ ...writable(), orgId: ref("organization").describe("cannot change") }).partial(),
    returns: Site,
  }),
  remove: del("/orgs/sites/:id", {
    summary: "Delete a site",
    description: "Its contacts and enrollment keys go with it. Refused while live devices are on it.",
    access: staff().needs("sites:write").withMfa(),
    emits: ["site.deleted"],
    audit: "site.delete",
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED", "SITE_NOT_EMPTY", "ORG_READ_ONLY"],
    returns: success,
  }),
});
