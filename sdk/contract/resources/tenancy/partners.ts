import { z } from "zod";
import { staff } from "../../core/access.ts";
import { create, del, get, type Noun, patch, resource, shape } from "../../core/endpoint.ts";
import { email, type FieldMeta, freeObject, instant, ref, slug, success, text, timezone } from "../../core/fields.ts";
import { paged, pageOf, pageQuery } from "../../core/page.ts";
import { partnerBilling } from "../../core/settings.ts";

export const partnerTypes = ["msp", "enterprise", "internal"] as const;
export const partnerPlans = ["free", "starter", "community", "pro", "enterprise", "unlimited"] as const;
export const partnerStatuses = ["pending", "active", "suspended", "churned"] as const;
export const serviceManagementModes = ["native", "external", "off"] as const;

/** Partner (docs/tenancy.md, "Partners"). */
export const Partner = shape("Partner", () =>
  z.object({
    id: z.string(),
    name: z.string(),
    slug: z.string(),
    type: z.enum(partnerTypes),
    plan: z.enum(partnerPlans),
    status: z.enum(partnerStatuses),
    maxOrganizations: z.int().nullable(),
    maxDevices: z.int().nullable(),
    settings: z.record(z.string(), z.unknown()),
    ssoConfig: z.record(z.string(), z.unknown()),
    billingEmail: z.string().nullable(),
    serviceManagementMode: z.enum(serviceManagementModes),
    serviceManagementPsaConnectionId: z.string().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
    deletedAt: instant().nullable(),
  }),
);

const clock = () => z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be HH:MM");
const weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;
const openingHours = () => z.strictObject({ start: clock(), end: clock(), closed: z.boolean().optional() });

/**
 * Changed settings: each key replaces the stored one, `businessHours`, `contact` and `security` one level deeper, and
 * null removes a key (docs/tenancy.md, "Partner settings"). Empty text is kept. Unknown keys are refused.
 */
export const PartnerSettingsChange = shape("PartnerSettingsChange", () =>
  z.strictObject({
    timezone: timezone().nullable().optional(),
    dateFormat: z.enum(["MM/DD/YYYY", "DD/MM/YYYY", "YYYY-MM-DD"]).nullable().optional(),
    timeFormat: z.enum(["12h", "24h"]).nullable().optional(),
    language: z.literal("en").nullable().optional(),
    businessHours: z
      .strictObject({
        preset: z.enum(["24/7", "business", "extended", "custom"]).nullable().optional(),
        custom: z.partialRecord(z.enum(weekdays), openingHours()).nullable().optional(),
      })
      .nullable()
      .optional(),
    contact: z
      .strictObject({
        name: text(255, 0).nullable().optional(),
        email: z
          .union([z.literal(""), email()])
          .nullable()
          .optional(),
        phone: text(64, 0).nullable().optional(),
        website: text(2048, 0).nullable().optional(),
      })
      .nullable()
      .optional(),
    security: z.strictObject({ requireMfa: z.boolean().nullable().optional() }).nullable().optional(),
    billing: partnerBilling().nullable().optional(),
    organizationOrder: z
      .unknown()
      .optional()
      .describe("set by PATCH /orgs/organizations/order; ignored beside other settings, refused alone"),
  }),
);

const cap = () => z.int().min(0).max(2_147_483_647).nullable();
const name = () => text(255).meta({ description: "display name", example: "Summit MSP" } satisfies FieldMeta);
const billingEmail = () => email().nullable().describe("where invoices go");
const shortName = () =>
  slug().meta({ description: "short name for addresses and commands", example: "summit" } satisfies FieldMeta);
const type = () => z.enum(partnerTypes).describe("what the partner is");
const plan = () => z.enum(partnerPlans).describe("plan it pays for");
const maxOrganizations = () => cap().describe("maximum number of organizations; null: no maximum");
const maxDevices = () => cap().describe("maximum number of enrolled devices; null: no maximum");

const selfWritable = () => ({
  name: name(),
  billingEmail: billingEmail(),
  settings: PartnerSettingsChange().describe("settings by key; each replaces the stored one, null removes it"),
  serviceManagementMode: z.enum(serviceManagementModes).describe("where tickets are kept"),
  serviceManagementPsaConnectionId: ref("psa-connection")
    .nullable()
    .describe("connection to the PSA that keeps the tickets"),
});
const system = staff("system");

const about: Noun = {
  name: "partners",
  summary: "Managed service providers and their settings",
  thing: "partner",
  kinds: { partner: { names: ["slug", "name"], label: "name", example: "summit" } },
  awaits: { "psa-connection": "there are no PSA connections yet" },
  audits: ["partner.create", "partner.update", "partner.delete", "partner.settings.update"],
};

export const partners = resource(about, {
  getMine: get("/orgs/partners/me", {
    summary: "Show your own partner",
    access: staff("partner").needs("organizations:read").exemptFrom("partnerGuard").ofOwnPartner(),
    returns: Partner,
  }),
  updateMine: patch("/orgs/partners/me", {
    summary: "Change your own partner",
    access: staff("partner").needs("organizations:write").withFullPartnerAccess().withMfa().ofOwnPartner(),
    audit: "partner.settings.update",
    errors: ["NO_UPDATES", "PSA_CONNECTION_REQUIRED", "PSA_CONNECTION_NOT_ALLOWED"],
    body: () => z.object(selfWritable()).partial(),
    returns: Partner,
  }),
  list: get("/orgs/partners", {
    summary: "List partners, oldest first",
    access: system.needs("organizations:read"),
    paging: paged,
    columns: ["slug", "name", "type", "plan", "status", "createdAt", "id"],
    query: () => z.object(pageQuery()),
    returns: () => pageOf(Partner()),
  }),
  create: create("/orgs/partners", {
    summary: "Create a partner",
    access: system.needs("organizations:write").withMfa(),
    audit: "partner.create",
    errors: ["SLUG_TAKEN"],
    body: () =>
      z.object({
        name: name(),
        slug: shortName(),
        type: type().default("msp"),
        plan: plan().default("free"),
        maxOrganizations: maxOrganizations().default(null),
        maxDevices: maxDevices().default(null),
        billingEmail: billingEmail().default(null),
      }),
    returns: Partner,
  }),
  get: get("/orgs/partners/:id", {
    summary: "Show a partner",
    access: system.needs("organizations:read"),
    errors: ["NOT_FOUND"],
    returns: Partner,
  }),
  update: patch("/orgs/partners/:id", {
    summary: "Change a partner",
    description: "`suspended` and `churned` refuse its users and keys until the status is `active` again.",
    access: system.needs("organizations:write").withMfa(),
    audit: "partner.update",
    errors: ["NOT_FOUND", "NO_UPDATES", "SLUG_TAKEN", "PSA_CONNECTION_REQUIRED", "PSA_CONNECTION_NOT_ALLOWED"],
    body: () =>
      z
        .object({
          ...selfWritable(),
          slug: shortName(),
          type: type(),
          plan: plan(),
          status: z.enum(partnerStatuses).describe("status to change to"),
          maxOrganizations: maxOrganizations(),
          maxDevices: maxDevices(),
          ssoConfig: freeObject().meta({
            description: "single sign-on settings by key",
            example: { enforced: true },
          } satisfies FieldMeta),
        })
        .partial(),
    returns: Partner,
  }),
  remove: del("/orgs/partners/:id", {
    summary: "Delete a partner",
    description: "Soft delete: its status becomes `churned`, sessions and keys end, organizations stay.",
    access: system.needs("organizations:write").withMfa(),
    audit: "partner.delete",
    loses: "tenant",
    errors: ["NOT_FOUND"],
    returns: success,
  }),
});
