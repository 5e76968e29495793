import { z } from "zod";
import { partnerKey } from "../../core/access.ts";
import { namesOneRegion, regionMismatch, withRegion } from "../../core/address.ts";
import { create, get, type Noun, resource, shape } from "../../core/endpoint.ts";
import { type FieldMeta, idOf, instant, ref, secret, slug, text, timestamp, timezone } from "../../core/fields.ts";
import { lenientInt } from "../../core/page.ts";
import { ConfigurationPolicy } from "../automation/configuration-policies.ts";
import { CustomField, customFieldTypes, customValue } from "../fleet/custom-fields.ts";
import { EnrollmentKey } from "./enrollment-keys.ts";

/** Fields of every exported row; `revision` is the SHA-256 of the rest of it (docs/credentials.md, "Exports"). */
const sourced = () => ({
  id: idOf(),
  orgId: idOf("organization"),
  siteId: idOf("site").nullable(),
  sourceUpdatedAt: instant(),
  revision: z.string(),
});

const known = () => z.string().nullable();
const counted = () => z.object({ total: z.int(), included: z.int(), complete: z.boolean() });
const address = <S extends z.ZodType>(field: S) => ({
  line1: field,
  line2: field,
  city: field,
  region: field,
  postalCode: field,
  country: field,
});
const contact = <S extends z.ZodType>(field: S) => ({ name: field, email: field, phone: field });

export const ExportedOrganization = shape("ExportedOrganization", () =>
  z.object({ ...sourced(), name: z.string(), slug: z.string(), type: z.enum(["customer", "internal"]) }),
);

export const ExportedSite = shape("ExportedSite", () =>
  z.object({
    ...sourced(),
    name: z.string(),
    timezone: z.string(),
    address: z.object(address(known())).nullable(),
    contact: z.object(contact(known())).nullable(),
  }),
);

export const ExportedDevice = shape("ExportedDevice", () =>
  z.object({
    ...sourced(),
    hostname: z.string(),
    displayName: known(),
    type: z.object({ os: z.string(), role: z.string(), virtual: z.boolean() }),
    operatingSystem: z.object({ edition: z.string(), build: known(), architecture: z.string() }),
    installation: z.object({ enrolledAt: instant().nullable() }),
    hardwareIdentity: z.object({ serialNumber: known(), manufacturer: known(), model: known() }),
    tags: z.array(z.string()),
    groupIds: z.array(idOf("device-group")),
    groupMembership: counted(),
  }),
);

export const ExportedInventory = shape("ExportedInventory", () =>
  z.object({
    ...sourced(),
    deviceId: idOf("device"),
    hardware: z.object({
      processor: z.object({ model: known(), cores: z.int().nullable() }),
      memory: z.object({ totalMb: z.number().nullable() }),
      graphics: z.object({ model: known() }),
      firmware: z.object({ biosVersion: known() }),
    }),
    disks: z.array(z.object({ mountPoint: z.string(), fileSystem: known(), totalGb: z.number().nullable() })),
    interfaces: z.array(z.object({ name: z.string(), macAddress: known(), primary: z.boolean() })),
    addresses: z.array(
      z.object({
        interfaceName: z.string(),
        address: z.string(),
        family: z.enum(["ipv4", "ipv6"]).nullable(),
        assignment: z.enum(["dhcp", "static"]).nullable().describe("null: unknown"),
        active: z.boolean(),
      }),
    ),
    collections: z.object({ disks: counted(), interfaces: counted(), addresses: counted() }),
  }),
);

export const ExportedSoftware = shape("ExportedSoftware", () =>
  z.object({
    ...sourced(),
    deviceId: idOf("device"),
    software: z.array(z.object({ name: z.string(), version: known(), vendor: known(), installedOn: known() })),
    collection: counted().describe("never complete for a device that has not reported its software yet"),
  }),
);

export const ExportedRelationships = shape("ExportedRelationships", () => {
  const end = () =>
    z.object({ type: z.enum(["organization", "site", "device", "device_group", "network"]), id: z.string() });
  return z.object({
    ...sourced(),
    deviceId: idOf("device"),
    edges: z.array(
      z.object({
        key: z.string(),
        type: z.enum(["organization_site", "site_device", "device_group", "network_topology"]),
        from: end(),
        to: end(),
      }),
    ),
    collection: counted(),
  });
});

export const ExportedCustomField = shape("ExportedCustomField", () => {
  const { name, fieldKey, type, options, required, defaultValue, deviceTypes } = CustomField().shape;
  return z.object({
    ...sourced(),
    orgId: idOf("organization").nullable().describe("null: of the whole partner"),
    ...{ name, fieldKey, type, options, required, defaultValue, deviceTypes },
  });
});

export const ExportedCustomValue = shape("ExportedCustomValue", () =>
  z.object({
    ...sourced(),
    deviceId: idOf("device"),
    definitionId: idOf("custom-field"),
    fieldKey: z.string(),
    type: z.enum(customFieldTypes),
    value: customValue(),
  }),
);

const ofPartner = () => idOf("organization").nullable().describe("null: of the whole partner");

export const ExportedPolicy = shape("ExportedPolicy", () => {
  const { name, description, status, features } = ConfigurationPolicy().shape;
  return z.object({ ...sourced(), orgId: ofPartner(), name, description, status, features });
});

export const ExportedAssignment = shape("ExportedAssignment", () => {
  const { level, targetId, priority, roleFilter, osFilter } = ConfigurationPolicy().shape.assignments.element.shape;
  return z.object({
    ...sourced(),
    orgId: ofPartner().describe("organization of the target; null: the whole partner is the target"),
    policyId: idOf("configuration-policy"),
    policyName: z.string(),
    ...{ level, targetId, priority, roleFilter, osFilter },
  });
});

/** A row that went away: deleted, decommissioned, or out of the principal's reach (docs/credentials.md, "Exports"). */
export const RemovedRow = shape("RemovedRow", () =>
  z.object({
    id: idOf(),
    orgId: idOf("organization").nullable().describe("null: of the whole partner"),
    siteId: idOf("site").nullable(),
    sourceUpdatedAt: instant(),
    removed: z.literal(true),
  }),
);

const pageOf = <S extends z.ZodType, O extends z.ZodType>(row: S, orgId: O) =>
  z.object({
    schemaVersion: z.literal("1"),
    snapshotAt: instant(),
    data: z.array(z.union([row, RemovedRow()])),
    nextCursor: z.string().nullable(),
    hasMore: z.boolean(),
    blocked: z
      .array(
        z.object({
          resource: z.string(),
          id: z.string(),
          orgId,
          reason: z.literal("secret_detected"),
          fieldPaths: z.array(z.string()),
        }),
      )
      .optional()
      .describe("rows withheld because a text in them looks like a secret"),
  });

const EXPORT_LIMIT = { default: 100, min: 1, max: 500 };
const walk = () => ({
  orgId: ref("organization").optional().describe("only what belongs to this organization"),
  updatedSince: timestamp()
    .optional()
    .describe("only rows changed or removed after this time, oldest change first; at most 30 days ago"),
  cursor: z.string().max(4096).optional().describe("nextCursor of the previous page"),
  limit: lenientInt(EXPORT_LIMIT).describe("rows of a page"),
});
const walkOfSites = () =>
  z.strictObject({ ...walk(), siteId: ref("site").optional().describe("only those at this site") });
const exported = {
  audit: "partner_api.export",
  errors: ["INVALID_CURSOR", "SINCE_TOO_OLD", "NOT_FOUND"],
  paging: { kind: "cursor", items: "data" },
} as const;

const made = <S extends z.ZodType>(data: S) => z.object({ schemaVersion: z.literal("1"), data });
const optionalText = () => z.string().trim().max(255).nullable().optional();
const givenAddress = () =>
  z
    .strictObject({ ...address(optionalText()), state: optionalText().describe("read as region") })
    .refine(namesOneRegion, { path: ["state"], message: regionMismatch })
    .transform(withRegion);
const called = (example: string) => text(255).meta({ description: "display name", example } satisfies FieldMeta);
const writeErrors = ["ORG_ACCESS_DENIED"] as const;

const about: Noun = {
  name: "partner-api",
  summary: "Export and unattended provisioning with a partner key",
  audits: ["partner_api.export", "partner_api.write"],
};

export const partnerApi = resource(about, {
  organizations: get("/partner-api/organizations", {
    summary: "Export organizations",
    access: partnerKey("organizations:read"),
    ...exported,
    columns: ["slug", "name", "type", "sourceUpdatedAt", "id"],
    query: () => z.strictObject(walk()),
    returns: () => pageOf(ExportedOrganization(), z.string()),
  }),
  sites: get("/partner-api/sites", {
    summary: "Export sites",
    access: partnerKey("sites:read"),
    ...exported,
    columns: ["name", "timezone", "sourceUpdatedAt", "orgId", "id"],
    query: () => z.strictObject(walk()),
    returns: () => pageOf(ExportedSite(), z.string()),
  }),
  devices: get("/partner-api/devices", {
    summary: "Export devices",
    description: "Decommissioned devices are left out.",
    access: partnerKey("devices:read"),
    ...exported,
    columns: ["hostname", "displayName", "type.os", "sourceUpdatedAt", "orgId", "siteId", "id"],
    query: walkOfSites,
    returns: () => pageOf(ExportedDevice(), z.string()),
  }),
  deviceInventory: get("/partner-api/device-inventory", {
    summary: "Export hardware, disks, interfaces and addresses of devices",
    description: "One row for each device that `devices` exports, with its id.",
    access: partnerKey("inventory:read"),
    ...exported,
    columns: ["deviceId", "hardware.processor.model", "hardware.memory.totalMb", "sourceUpdatedAt", "orgId", "siteId"],
    query: walkOfSites,
    returns: () => pageOf(ExportedInventory(), z.string()),
  }),
  deviceSoftware: get("/partner-api/device-software", {
    summary: "Export what is installed on devices",
    description: "One row for each device that `devices` exports, with its first 1,000 programs by name.",
    access: partnerKey("inventory:read"),
    ...exported,
    columns: ["deviceId", "collection.total", "collection.complete", "sourceUpdatedAt", "orgId", "siteId"],
    query: walkOfSites,
    returns: () => pageOf(ExportedSoftware(), z.string()),
  }),
  deviceRelationships: get("/partner-api/device-relationships", {
    summary: "Export where devices belong",
    description:
      "One row for each device that `devices` exports, with the edges from its organization to its site and from there to it.",
    access: partnerKey("inventory:read"),
    ...exported,
    columns: ["deviceId", "sourceUpdatedAt", "orgId", "siteId", "id"],
    query: walkOfSites,
    returns: () => pageOf(ExportedRelationships(), z.string()),
  }),
  customFields: get("/partner-api/custom-fields", {
    summary: "Export custom fields of devices",
    description: "Those of the partner as well, which have no orgId, also where an organization is named.",
    access: partnerKey("custom-fields:read"),
    ...exported,
    columns: ["fieldKey", "name", "type", "required", "sourceUpdatedAt", "orgId", "id"],
    query: () => z.strictObject(walk()),
    returns: () => pageOf(ExportedCustomField(), z.string().nullable()),
  }),
  customFieldValues: get("/partner-api/custom-field-values", {
    summary: "Export custom values of devices",
    description: "Values that devices have of their own; a default stands in its field.",
    access: partnerKey("custom-fields:read"),
    ...exported,
    columns: ["fieldKey", "value", "type", "deviceId", "sourceUpdatedAt", "orgId", "siteId", "id"],
    query: () => z.strictObject(walk()),
    returns: () => pageOf(ExportedCustomValue(), z.string()),
  }),
  configurationPolicies: get("/partner-api/configuration-policies", {
    summary: "Export configuration policies",
    description: "Those of the partner as well, which have no orgId, also where an organization is named.",
    access: partnerKey("configuration:read"),
    ...exported,
    columns: ["name", "status", "features", "sourceUpdatedAt", "orgId", "id"],
    query: () => z.strictObject(walk()),
    returns: () => pageOf(ExportedPolicy(), z.string().nullable()),
  }),
  configurationAssignments: get("/partner-api/configuration-assignments", {
    summary: "Export what configuration policies are assigned to",
    description: "Of a partner's policy those to organizations within reach, and to the partner itself.",
    access: partnerKey("configuration:read"),
    ...exported,
    columns: ["policyName", "level", "targetId", "priority", "sourceUpdatedAt", "orgId", "id"],
    query: () => z.strictObject(walk()),
    returns: () => pageOf(ExportedAssignment(), z.string().nullable()),
  }),
  createOrganization: create("/partner-api/organizations", {
    summary: "Create an organization",
    description: "A key confined to chosen organizations reaches the new one as well.",
    access: partnerKey("organizations:write"),
    makes: "organization",
    emits: ["organization.created"],
    audit: "partner_api.write",
    errors: [...writeErrors, "ORG_LIMIT_REACHED", "SLUG_TAKEN"],
    body: () =>
      z.strictObject({
        name: called("Contoso Dental"),
        slug: slug().meta({
          description: "short name for addresses and commands",
          example: "contoso-dental",
        } satisfies FieldMeta),
        type: z.enum(["customer", "internal"]).default("customer").describe("a customer, or the partner itself"),
        status: z.enum(["active", "trial"]).default("active").describe("status to begin in"),
      }),
    returns: () => made(ExportedOrganization()),
  }),
  createSite: create("/partner-api/sites", {
    summary: "Create a site",
    access: partnerKey("sites:write"),
    makes: "site",
    emits: ["site.created"],
    audit: "partner_api.write",
    errors: writeErrors,
    body: () =>
      z.strictObject({
        orgId: ref("organization").describe("organization that it belongs to"),
        name: called("HQ"),
        timezone: timezone().default("UTC").describe("IANA time zone: Europe/Madrid"),
        address: givenAddress().nullable().default(null).describe("postal address"),
        contact: z.strictObject(contact(optionalText())).nullable().default(null).describe("whom to ask on site"),
      }),
    returns: () => made(ExportedSite()),
  }),
  createEnrollmentKey: create("/partner-api/enrollment-keys", {
    summary: "Create an enrollment key",
    description:
      "Only for principals with an end and a source allowlist. At most 10 an hour and principal, 100 an hour and partner.",
    access: partnerKey("enrollment-keys:write"),
    makes: "enrollment-key",
    audit: "partner_api.write",
    errors: [
      ...writeErrors,
      "partner_provisioning_principal_restrictions_required",
      "SITE_NOT_IN_ORG",
      "TTL_EXCEEDS_CAP",
    ],
    body: () =>
      z
        .strictObject({
          orgId: ref("organization").describe("organization that devices enroll into"),
          name: called("hq-laptops"),
          siteId: ref("site").nullable().optional().describe("pins enrolled devices to this site"),
          maxUsage: z
            .int()
            .min(1)
            .max(100_000)
            .default(1)
            .describe("maximum number of devices that may enroll with it"),
          issueEnrollmentSecret: z
            .boolean()
            .default(false)
            .describe("gives the key an additional secret that enrolling also requires"),
          ttlMinutes: z.int().min(1).max(525_600).optional().describe("instead of expiresAt"),
          expiresAt: timestamp().optional().describe("must be in the future; default: in 30 days"),
        })
        .refine(({ ttlMinutes, expiresAt }) => ttlMinutes === undefined || expiresAt === undefined, {
          path: ["ttlMinutes"],
          message: "give ttlMinutes or expiresAt, not both",
        }),
    returns: () =>
      z.object({
        ...made(EnrollmentKey()).shape,
        key: secret(),
        enrollmentSecret: secret().optional(),
      }),
  }),
});
