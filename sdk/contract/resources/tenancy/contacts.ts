import { z } from "zod";
import { staff } from "../../core/access.ts";
import { create, del, get, type Noun, patch, resource, shape } from "../../core/endpoint.ts";
import { blankable, blankableEmail, type FieldMeta, instant, listedName, ref, success } from "../../core/fields.ts";
import { paged, pageOf, pageQuery } from "../../core/page.ts";

export const contactRoles = ["billing", "technical", "escalation", "admin", "site", "after_hours", "portal"] as const;

/** A contact of an organization, or of one of its sites (docs/tenancy.md, "Contacts"). */
export const Contact = shape("Contact", () =>
  z.object({
    id: z.string(),
    orgId: z.string(),
    siteId: z.string().nullable(),
    siteName: listedName(),
    name: z.string().nullable(),
    email: z.string().nullable(),
    phone: z.string().nullable(),
    mobile: z.string().nullable(),
    title: z.string().nullable(),
    roles: z.array(z.enum(contactRoles)),
    isPrimary: z.boolean(),
    notes: z.string().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
  }),
);

/** Any text: an unknown role is answered `invalid-role`, which a schema could not say. */
const roles = () =>
  z
    .array(z.string().max(64))
    .max(32)
    .meta({ published: { type: "array", items: { type: "string", enum: [...contactRoles] } } } satisfies FieldMeta);

const writable = () => ({
  siteId: ref("site").nullable().describe("null: a contact of the whole organization"),
  name: blankable(255).meta({ description: "name of the person", example: "Ana Ruiz" } satisfies FieldMeta),
  email: blankableEmail(320).describe("address of the person"),
  phone: blankable(64).describe("telephone number"),
  mobile: blankable(64).describe("mobile number"),
  title: blankable(255).describe("job title"),
  roles: roles().describe("responsibilities of the contact"),
  isPrimary: z.boolean().describe("demotes the previous primary of the organization or site"),
  notes: blankable(5000).describe("free text for colleagues"),
});

const about: Noun = {
  name: "contacts",
  summary: "People of an organization",
  thing: "contact",
  kinds: { contact: { names: ["email", "name"], label: "name" } },
  audits: ["contact.create", "contact.update", "contact.delete"],
};

export const contacts = resource(about, {
  list: get("/orgs/organizations/:id/contacts", {
    summary: "List contacts of an organization, primary ones first",
    access: staff().needs("organizations:read"),
    refs: { id: "organization" },
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED"],
    paging: paged,
    columns: ["name", "email", "phone", "siteName", "roles", "isPrimary", "id"],
    query: () =>
      z.object({
        ...pageQuery(),
        siteId: z
          .union([z.literal("none"), ref("site")])
          .optional()
          .describe("`none`: only contacts without a site"),
        role: z.enum(contactRoles).optional().describe("only those with this responsibility"),
      }),
    returns: () => pageOf(Contact()),
  }),
  create: create("/orgs/organizations/:id/contacts", {
    summary: "Create a contact",
    access: staff().needs("organizations:write").withMfa(),
    refs: { id: "organization" },
    audit: "contact.create",
    errors: ["NOT_FOUND", "no-identifier", "invalid-role", "site-not-in-org", "SITE_ACCESS_DENIED", "ORG_READ_ONLY"],
    body: () => z.object(writable()).partial(),
    returns: Contact,
  }),
  update: patch("/orgs/contacts/:contactId", {
    summary: "Change a contact",
    access: staff().needs("organizations:write").withMfa(),
    audit: "contact.update",
    refs: { contactId: "contact" },
    errors: [
      "NOT_FOUND",
      "FIELD_IMMUTABLE",
      "NO_UPDATES",
      "no-identifier",
      "invalid-role",
      "site-not-in-org",
      "SITE_ACCESS_DENIED",
      "ORG_READ_ONLY",
    ],
    body: () => z.object({ ...writable(), orgId: ref("organization").describe("cannot change") }).partial(),
    returns: Contact,
  }),
  remove: del("/orgs/contacts/:contactId", {
    summary: "Delete a contact",
    access: staff().needs("organizations:write").withMfa(),
    audit: "contact.delete",
    refs: { contactId: "contact" },
    errors: ["NOT_FOUND", "ORG_READ_ONLY"],
    returns: success,
  }),
});
