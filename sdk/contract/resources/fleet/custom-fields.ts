import { z } from "zod";
import { staff } from "../../core/access.ts";
import { create, del, get, type Noun, patch, resource, shape } from "../../core/endpoint.ts";
import {
  type FieldMeta,
  idOf,
  instant,
  listedName,
  ref,
  searchText,
  storableText,
  success,
  text,
} from "../../core/fields.ts";
import { paged, pageOf, pageQuery } from "../../core/page.ts";
import { osTypes } from "./devices.ts";

export const customFieldTypes = ["text", "number", "boolean", "dropdown", "date"] as const;

/** What a custom field of a device holds (docs/fleet.md, "Custom values"). */
export const customValue = () => z.union([z.string(), z.number(), z.boolean()]);
export type CustomValue = string | number | boolean;

const count = () => z.int().min(0).max(10_000).optional();

/** A plain text stands for a choice whose label is its value. */
const choice = () =>
  z
    .union([text(255), z.object({ label: text(255), value: text(255) })])
    .transform((given) => (typeof given === "string" ? { label: given, value: given } : given));

const bounds = () => ({
  min: z.number().optional().describe("of a number"),
  max: z.number().optional(),
  minLength: count().describe("of a text, in characters"),
  maxLength: count(),
  pattern: z.string().min(1).max(1000).optional().describe("of a text as a whole"),
});

const givenOptions = () =>
  z.object({
    choices: z.array(choice()).max(200).optional().describe("of a dropdown; a text is label and value"),
    ...bounds(),
  });

const shownOptions = () =>
  z.object({ choices: z.array(z.object({ label: z.string(), value: z.string() })).optional(), ...bounds() });

/** A field that devices have beside their own (docs/fleet.md, "Custom fields"). */
export const CustomField = shape("CustomField", () =>
  z.object({
    id: idOf("custom-field"),
    ownerScope: z.enum(["organization", "partner"]),
    orgId: idOf("organization").nullable(),
    orgName: listedName(),
    partnerId: idOf("partner").nullable(),
    name: z.string(),
    fieldKey: z.string(),
    type: z.enum(customFieldTypes),
    options: shownOptions().nullable(),
    required: z.boolean(),
    defaultValue: customValue().nullable(),
    deviceTypes: z.array(z.enum(osTypes)).nullable(),
    createdAt: instant(),
    updatedAt: instant(),
  }),
);

const fieldKey = () =>
  z
    .string()
    .max(100)
    .regex(/^[a-z][a-z0-9_]*$/, "must be of a-z, 0-9 and _, and start with a letter");

const givenValue = () => z.union([storableText(10_000), z.number(), z.boolean()]);

const writable = () => ({
  name: text(100).meta({ description: "display name", example: "Rack unit" } satisfies FieldMeta),
  options: givenOptions().nullable().describe("what values must satisfy; replaced as a whole"),
  required: z.boolean().describe("its value cannot be cleared"),
  defaultValue: givenValue().nullable().describe("of devices without a value of their own"),
  deviceTypes: z.array(z.enum(osTypes)).min(1).max(3).nullable().describe("operating systems that have it; null: all"),
});

const CustomValues = shape("CustomValues", () => z.object({ customFields: z.record(z.string(), customValue()) }));

const refusals = ["NOT_FOUND", "SITE_ACCESS_DENIED", "FULL_PARTNER_ACCESS_REQUIRED", "ORG_READ_ONLY"] as const;

const about: Noun = {
  name: "custom-fields",
  summary: "Fields of your own on devices, and their values",
  thing: "custom-field",
  kinds: { "custom-field": { names: ["fieldKey", "name"], label: "name", example: "rack_unit" } },
  audits: ["custom_field.create", "custom_field.update", "custom_field.delete", "device.custom_field.update"],
};

export const customFields = resource(about, {
  list: get("/custom-fields", {
    summary: "List custom fields of organizations and of their partner, newest first",
    access: staff().needs("devices:read"),
    errors: ["ORG_ACCESS_DENIED"],
    paging: paged,
    columns: ["fieldKey", "name", "type", "required", "orgName", "id"],
    query: () =>
      z.object({
        ...pageQuery(),
        orgId: ref("organization").optional().describe("its own fields and those of its partner"),
        type: z.enum(customFieldTypes).optional().describe("only those of this type"),
        deviceType: z.enum(osTypes).optional().describe("only those that devices of this operating system have"),
        search: searchText().optional().describe("in name and key"),
      }),
    returns: () => pageOf(CustomField()),
  }),
  create: create("/custom-fields", {
    summary: "Define a custom field",
    access: staff().needs("devices:write"),
    audit: "custom_field.create",
    errors: [
      "ORG_ID_REQUIRED",
      "ORG_ACCESS_DENIED",
      "ORG_CONTEXT_REQUIRED",
      "PARTNER_ID_REQUIRED",
      "PARTNER_ACCESS_DENIED",
      "FULL_PARTNER_ACCESS_REQUIRED",
      "SITE_ACCESS_DENIED",
      "ORG_READ_ONLY",
      "DUPLICATE",
      "LIMIT_REACHED",
    ],
    body: () =>
      z
        .object({
          ownerScope: z
            .enum(["organization", "partner"])
            .default("organization")
            .describe("partner: for devices of all its organizations; needs full partner access"),
          orgId: ref("organization").optional().describe("organization whose devices have it; default: your own"),
          partnerId: ref("partner").optional().describe("of a partner's field, from a platform administrator"),
          fieldKey: fieldKey().meta({
            description: "unique across an organization and its partner; cannot change",
            example: "rack_unit",
          } satisfies FieldMeta),
          type: z.enum(customFieldTypes).describe("cannot change"),
          ...writable(),
          options: writable().options.default(null),
          required: writable().required.default(false),
          defaultValue: writable().defaultValue.default(null),
          deviceTypes: writable().deviceTypes.default(null),
        })
        .refine(({ ownerScope, orgId }) => ownerScope === "organization" || orgId === undefined, {
          path: ["orgId"],
          message: "orgId: a partner's field belongs to no organization",
        }),
    returns: CustomField,
  }),
  get: get("/custom-fields/:id", {
    summary: "Show a custom field",
    access: staff().needs("devices:read"),
    errors: ["NOT_FOUND"],
    returns: CustomField,
  }),
  update: patch("/custom-fields/:id", {
    summary: "Change a custom field; stored values are not judged again",
    access: staff().needs("devices:write"),
    audit: "custom_field.update",
    errors: [...refusals, "FIELD_IMMUTABLE", "NO_UPDATES"],
    body: () =>
      z
        .object({
          ...writable(),
          fieldKey: fieldKey().describe("cannot change"),
          type: z.enum(customFieldTypes).describe("cannot change"),
        })
        .partial(),
    returns: CustomField,
  }),
  remove: del("/custom-fields/:id", {
    summary: "Delete a custom field with its values on devices",
    access: staff().needs("devices:delete").withMfa(),
    audit: "custom_field.delete",
    errors: [...refusals, "IN_USE"],
    returns: success,
  }),
  values: get("/devices/:id/custom-fields", {
    summary: "Show the custom values of a device, over the defaults of fields it has",
    access: staff().needs("devices:read").orApiKey("devices:read"),
    refs: { id: "device" },
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED"],
    returns: CustomValues,
  }),
  setValues: patch("/devices/:id/custom-fields", {
    summary: "Set custom values of a device; null deletes one",
    access: staff().needs("devices:write").orApiKey("devices:write"),
    refs: { id: "device" },
    audit: "device.custom_field.update",
    mayEmit: ["device.updated"],
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED", "ORG_READ_ONLY", "CUSTOM_FIELD_UNKNOWN", "CUSTOM_FIELD_INVALID"],
    body: () =>
      z
        .record(z.string().min(1).max(100), givenValue().nullable())
        .refine((values) => Object.keys(values).length > 0, "must have at least one field"),
    returns: CustomValues,
  }),
});
