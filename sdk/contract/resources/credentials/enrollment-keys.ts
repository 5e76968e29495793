import { z } from "zod";
import { staff } from "../../core/access.ts";
import { create, del, get, type Noun, post, resource, shape } from "../../core/endpoint.ts";
import { type FieldMeta, flag, instant, listedName, ref, secret, success, text, timestamp } from "../../core/fields.ts";
import { paged, pageOf, pageQuery } from "../../core/page.ts";

/** Key that lets agents join an organization (docs/credentials.md, "Enrollment keys"). */
export const EnrollmentKey = shape("EnrollmentKey", () =>
  z.object({
    id: z.string(),
    orgId: z.string(),
    orgName: listedName(),
    siteId: z.string().nullable(),
    siteName: listedName(),
    name: z.string(),
    maxUsage: z.int().nullable().describe("null: unlimited"),
    usageCount: z.int(),
    expiresAt: instant(),
    createdBy: z.string().nullable(),
    createdByPrincipalId: z.string().nullable(),
    keyIssuedAt: instant().describe("when the current key was created or last rotated"),
    createdAt: instant(),
    updatedAt: instant(),
  }),
);

/** As created or rotated: the raw key, 64 hexadecimal characters, is shown this once. */
export const EnrollmentKeyWithSecret = shape("EnrollmentKeyWithSecret", () =>
  z.object({ ...EnrollmentKey().shape, key: secret() }),
);

const maxUsage = () => z.int().min(1).max(100_000).describe("maximum number of devices that may enroll with it");
const readers = staff().needs("organizations:read");
const writers = staff().needs("organizations:write").withMfa();

const about: Noun = {
  name: "enrollment-keys",
  summary: "Tokens that let devices join an organization",
  thing: "enrollment-key",
  kinds: { "enrollment-key": { names: ["name"], example: "hq-laptops" } },
  audits: ["enrollment_key.create", "enrollment_key.rotate", "enrollment_key.delete"],
};

export const enrollmentKeys = resource(about, {
  list: get("/enrollment-keys", {
    summary: "List enrollment keys",
    access: readers,
    errors: ["ORG_ACCESS_DENIED"],
    paging: paged,
    columns: ["name", "orgName", "siteName", "usageCount", "maxUsage", "expiresAt", "id"],
    query: () =>
      z.object({
        ...pageQuery(),
        orgId: ref("organization").optional().describe("only those of this organization"),
        expired: flag().optional().describe("true: only expired keys, false: only the others"),
      }),
    returns: () => pageOf(EnrollmentKey()),
  }),
  create: create("/enrollment-keys", {
    summary: "Create an enrollment key",
    access: writers,
    audit: "enrollment_key.create",
    errors: [
      "ORG_ID_REQUIRED",
      "ORG_CONTEXT_REQUIRED",
      "ORG_ACCESS_DENIED",
      "SITE_ACCESS_DENIED",
      "SITE_NOT_IN_ORG",
      "TTL_EXCEEDS_CAP",
      "ORG_READ_ONLY",
      "ORG_SUSPENDED",
    ],
    body: () =>
      z.strictObject({
        name: text(255).meta({ description: "display name", example: "hq-laptops" } satisfies FieldMeta),
        orgId: ref("organization").optional().describe("required in partner and system scope"),
        siteId: ref("site").nullable().optional().describe("pins enrolled devices to this site"),
        maxUsage: maxUsage().default(1),
        expiresAt: timestamp().optional().describe("must be in the future; default: in 30 days"),
      }),
    returns: EnrollmentKeyWithSecret,
  }),
  get: get("/enrollment-keys/:id", {
    summary: "Show an enrollment key",
    access: readers,
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED"],
    returns: EnrollmentKey,
  }),
  rotate: post("/enrollment-keys/:id/rotate", {
    summary: "Replace the key material and reset the usage count",
    description: "The old key stops working immediately. Omitted settings stay as they are.",
    access: writers,
    audit: "enrollment_key.rotate",
    loses: "secret",
    idempotent: true,
    bodyOptional: true,
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED", "TTL_EXCEEDS_CAP", "ORG_READ_ONLY"],
    body: () =>
      z.strictObject({
        maxUsage: maxUsage()
          .nullable()
          .optional()
          .describe("maximum number of devices that may enroll with it; null: unlimited"),
        expiresAt: timestamp().optional().describe("must be in the future; omitted: as it was"),
      }),
    returns: EnrollmentKeyWithSecret,
  }),
  remove: del("/enrollment-keys/:id", {
    summary: "Delete an enrollment key",
    access: writers,
    audit: "enrollment_key.delete",
    loses: "secret",
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED"],
    returns: success,
  }),
});
