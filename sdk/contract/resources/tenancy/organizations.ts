import { z } from "zod";
import { staff } from "../../core/access.ts";
import { create, del, get, type Noun, patch, resource, shape } from "../../core/endpoint.ts";
import { bound, type FieldMeta, freeObject, instant, ref, searchText, slug, success, text } from "../../core/fields.ts";
import { paged, pageOf, pageQuery, whole, wholeOf } from "../../core/page.ts";
import { organizationSettings } from "../../core/settings.ts";

export const organizationStatuses = [
  "active",
  "trial",
  "suspended",
  "churned",
  "offboarding",
  "merging",
  "archived",
  "purging",
] as const;

/** Organization (docs/tenancy.md, "Organizations"). */
export const Organization = shape("Organization", () =>
  z.object({
    id: z.string(),
    partnerId: z.string(),
    name: z.string(),
    slug: z.string(),
    type: z.enum(["customer", "internal"]),
    status: z.enum(organizationStatuses),
    maxDevices: z.int().nullable(),
    settings: z.record(z.string(), z.unknown()),
    ssoConfig: z.record(z.string(), z.unknown()),
    contractStart: instant().nullable(),
    contractEnd: instant().nullable(),
    billingContact: z.record(z.string(), z.unknown()).nullable(),
    offboardingStartedAt: instant().nullable(),
    archivedAt: instant().nullable(),
    retentionMode: z.enum(["keep", "purge_after"]).nullable(),
    purgeAt: instant().nullable(),
    mergedIntoOrgId: z.string().nullable(),
    deviceCount: z.int().optional().describe("lists only"),
    createdAt: instant(),
    updatedAt: instant(),
    deletedAt: instant().nullable(),
  }),
);

const cap = () => z.int().min(0).max(2_147_483_647).nullable();
const writable = () => ({
  name: text(255).meta({ description: "display name", example: "Contoso Dental" } satisfies FieldMeta),
  slug: slug().meta({
    description: "short name for addresses and commands",
    example: "contoso-dental",
  } satisfies FieldMeta),
  type: z.enum(["customer", "internal"]).describe("a customer, or the partner itself"),
  maxDevices: cap().describe("maximum number of enrolled devices; null: no maximum"),
  settings: organizationSettings().meta({
    description: "settings by key",
    example: { language: "en" },
  } satisfies FieldMeta),
  contractStart: bound("from").nullable().describe("first day of the contract"),
  contractEnd: bound("from").nullable().describe("end of the contract"),
  billingContact: freeObject()
    .nullable()
    .meta({
      description: "contact for invoices",
      example: { name: "Ana", email: "ana@contoso.example" },
    } satisfies FieldMeta),
});
const owners = staff("partner", "system");

const endsAfterStart = ({
  contractStart,
  contractEnd,
}: {
  contractStart?: string | null;
  contractEnd?: string | null;
}) => !contractStart || !contractEnd || contractEnd >= contractStart;
const endsBeforeStart = { path: ["contractEnd"], message: "must not be before contractStart" };

const about: Noun = {
  name: "organizations",
  summary: "Customers of a partner",
  thing: "organization",
  kinds: { organization: { names: ["slug", "name"], label: "name", example: "contoso-dental" } },
  audits: [
    "organization.create",
    "organization.update",
    "organization.delete",
    "organization.offboarding_completed",
    "partner.organization_order.update",
  ],
};

export const organizations = resource(about, {
  listAccessible: get("/orgs", {
    summary: "List every organization you can reach, by name",
    access: staff().needs("organizations:read"),
    paging: whole,
    columns: ["slug", "name", "type", "status", "deviceCount", "createdAt", "id"],
    returns: () => wholeOf(Organization()),
  }),
  list: get("/orgs/organizations", {
    summary: "List organizations",
    access: owners.needs("organizations:read"),
    paging: paged,
    columns: ["slug", "name", "type", "status", "deviceCount", "createdAt", "id"],
    query: () =>
      z.object({
        ...pageQuery(),
        partnerId: ref("partner").optional().describe("only those of this partner"),
        status: z.enum(organizationStatuses).optional().describe("only those in this status"),
        search: searchText().optional().describe("part of name or slug"),
      }),
    returns: () => pageOf(Organization()),
  }),
  create: create("/orgs/organizations", {
    summary: "Create an organization",
    access: owners.needs("organizations:write").withMfa(),
    emits: ["organization.created"],
    audit: "organization.create",
    errors: [
      "PARTNER_CONTEXT_REQUIRED",
      "PARTNER_ID_REQUIRED",
      "PARTNER_ACCESS_DENIED",
      "NOT_FOUND",
      "SLUG_TAKEN",
      "ORG_LIMIT_REACHED",
    ],
    body: () => {
      const fields = writable();
      return z
        .object({
          ...fields,
          partnerId: ref("partner").optional().describe("required in system scope"),
          status: z.enum(["active", "trial", "suspended", "churned"]).default("active").describe("status to begin in"),
          type: fields.type.default("customer"),
          maxDevices: fields.maxDevices.default(null),
          settings: fields.settings.default({}),
          contractStart: fields.contractStart.default(null),
          contractEnd: fields.contractEnd.default(null),
          billingContact: fields.billingContact.default(null),
        })
        .refine(endsAfterStart, endsBeforeStart);
    },
    returns: Organization,
  }),
  order: patch("/orgs/organizations/order", {
    summary: "Set the order in which organizations are listed",
    access: staff("partner").needs("organizations:write").withFullPartnerAccess().withMfa(),
    audit: "partner.organization_order.update",
    body: () =>
      z.object({
        orderedIds: z
          .array(ref("organization"))
          .max(10_000)
          .describe("all organizations, in the order they are shown in"),
      }),
    returns: () => z.object({ organizationOrder: z.array(z.string()) }),
  }),
  get: get("/orgs/organizations/:id", {
    summary: "Show an organization",
    access: owners.needs("organizations:read"),
    errors: ["NOT_FOUND"],
    returns: Organization,
  }),
  update: patch("/orgs/organizations/:id", {
    summary: "Change an organization",
    description:
      "`active`, `trial` and `suspended` follow each other freely; `churned` cuts the organization off at once and `active` or `trial` brings it back. `offboarding` is the slow wind-down: people and keys lose access, every agent is told to uninstall, and the organization is `churned` once all have, or after 72 hours; `active` or `trial` aborts it. Changing `settings.billing` takes `billing:manage`; a change of nothing else takes that alone and leaves the other settings as they are.",
    access: owners.needs("organizations:write").orInPart("billing:manage").withMfa(),
    mayEmit: ["organization.updated", "organization.offboarding", "device.command.failed"],
    audit: "organization.update",
    errors: [
      "NOT_FOUND",
      "FIELD_IMMUTABLE",
      "INVALID_STATUS",
      "NO_UPDATES",
      "SLUG_TAKEN",
      "INVALID_TRANSITION",
      "CONCURRENT_MODIFICATION",
      "ORG_READ_ONLY",
    ],
    body: () =>
      z
        .object({
          ...writable(),
          status: z.enum(organizationStatuses).describe("status to change to"),
          ssoConfig: freeObject().meta({
            description: "single sign-on settings by key",
            example: { enforced: true },
          } satisfies FieldMeta),
          partnerId: ref("partner").describe("cannot change"),
        })
        .partial()
        .refine(endsAfterStart, endsBeforeStart),
    returns: Organization,
  }),
  remove: del("/orgs/organizations/:id", {
    summary: "Delete an organization",
    description: "Soft delete: users and keys lose access, agents are cut off, sites stay.",
    access: owners.needs("organizations:write").withMfa(),
    emits: ["organization.deleted"],
    audit: "organization.delete",
    loses: "tenant",
    errors: ["NOT_FOUND"],
    returns: success,
  }),
});
