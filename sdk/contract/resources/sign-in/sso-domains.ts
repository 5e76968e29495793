import { z } from "zod";
import { staff } from "../../core/access.ts";
import { asciiDomain } from "../../core/email.ts";
import { create, del, get, type Noun, post, resource, shape } from "../../core/endpoint.ts";
import { type FieldMeta, instant, listedName, ref, success } from "../../core/fields.ts";
import { whole, wholeOf } from "../../core/page.ts";

/** Email domain that an organization proves to be its own (docs/single-sign-on.md, "Email domains"). */
export const SsoDomain = shape("SsoDomain", () =>
  z.object({
    id: z.string(),
    orgId: z.string(),
    orgName: listedName(),
    domain: z.string(),
    verified: z.boolean(),
    verifiedAt: instant().nullable(),
    lastCheckedAt: instant().nullable(),
    recordName: z.string().describe("name of the TXT record to publish"),
    recordValue: z.string().describe("value of the TXT record"),
    createdAt: instant(),
  }),
);

/** Lower-cased, in the form the domain name system has it; no scheme, port, path or wildcard. */
const domain = () =>
  z
    .string()
    .trim()
    .max(253)
    .transform((value) => asciiDomain(value))
    .refine((value) => value !== undefined, "must be a domain")
    .transform((value) => value as string)
    .meta({ published: { type: "string", maxLength: 253 } } satisfies FieldMeta);

const writers = staff().needs("organizations:write").withMfa();

const about: Noun = {
  name: "sso-domains",
  summary: "Email domains an organization has proven to be its own",
  thing: "sso-domain",
  kinds: { "sso-domain": { names: ["domain"], example: "contoso.example" } },
  audits: ["sso.domain.create", "sso.domain.verify", "sso.domain.delete"],
};

export const ssoDomains = resource(about, {
  list: get("/sso/domains", {
    summary: "List an organization's email domains",
    access: staff().needs("organizations:read"),
    errors: ["ORG_ACCESS_DENIED"],
    paging: whole,
    columns: ["domain", "verified", "orgName", "recordName", "recordValue", "lastCheckedAt", "id"],
    query: () => z.object({ orgId: ref("organization").optional().describe("only those of this organization") }),
    returns: () => wholeOf(SsoDomain()),
  }),
  create: create("/sso/domains", {
    summary: "Name an email domain of an organization",
    description: "Publish the TXT record of the answer, then verify. Naming it again answers the same.",
    access: writers,
    audit: "sso.domain.create",
    errors: ["ORG_ACCESS_DENIED", "ORG_CONTEXT_REQUIRED", "ORG_ID_REQUIRED", "SITE_ACCESS_DENIED", "ORG_READ_ONLY"],
    body: () =>
      z.strictObject({
        orgId: ref("organization").optional().describe("organization that owns it; default: your own"),
        domain: domain().meta({
          description: "email domain: contoso.example",
          example: "contoso.example",
        } satisfies FieldMeta),
      }),
    returns: SsoDomain,
  }),
  verify: post("/sso/domains/:id/verify", {
    summary: "Look for the TXT record that proves a domain",
    description: "Once verified, a domain stays so.",
    access: writers,
    audit: "sso.domain.verify",
    loses: "nothing",
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED", "ORG_READ_ONLY"],
    returns: () => z.object({ verified: z.boolean(), reason: z.literal("txt_not_found").optional() }),
  }),
  remove: del("/sso/domains/:id", {
    summary: "Forget an email domain",
    access: writers,
    audit: "sso.domain.delete",
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED", "ORG_READ_ONLY"],
    returns: success,
  }),
});
