import { z } from "zod";
import { staff } from "../../core/access.ts";
import { create, del, get, type Noun, patch, resource, shape } from "../../core/endpoint.ts";
import { type FieldMeta, idOf, instant, ref, success, text } from "../../core/fields.ts";

/** Groups of one organization (docs/privileged-access.md, "Signer groups"). */
export const SIGNER_GROUPS_MAX = 200;
const SIGNERS_MAX = 500;

/** Signers under one name (docs/privileged-access.md, "Signer groups"). */
export const SignerGroup = shape("SignerGroup", () =>
  z.object({
    id: idOf("signer-group"),
    orgId: idOf("organization"),
    name: z.string(),
    description: z.string().nullable(),
    signers: z.array(z.string()),
    createdAt: instant(),
    updatedAt: instant(),
  }),
);

const writable = () => ({
  name: text(255).meta({
    description: "unique in the organization, without case",
    example: "Trusted vendors",
  } satisfies FieldMeta),
  description: text(2000).nullable().describe("what it is for"),
  signers: z
    .array(text(255))
    .max(SIGNERS_MAX)
    .describe(`common names of certificates, at most ${SIGNERS_MAX}; those that differ in case alone count once`),
});

const writers = staff().needs("devices:write").withMfa();
const written = () => z.object({ success: z.literal(true), signerGroup: SignerGroup() });

const about: Noun = {
  name: "signer-groups",
  summary: "Signers of programs that rules name together",
  thing: "signer-group",
  kinds: { "signer-group": { names: ["name"], example: "Trusted vendors" } },
  audits: ["pam.signer_group.create", "pam.signer_group.update", "pam.signer_group.delete"],
};

export const signerGroups = resource(about, {
  list: get("/pam/signer-groups", {
    summary: "List signer groups, by name",
    access: staff().needs("devices:read"),
    errors: ["ORG_ACCESS_DENIED", "SITE_ACCESS_DENIED"],
    paging: { kind: "whole", items: "signerGroups" },
    columns: ["name", "description", "signers", "id"],
    query: () => z.object({ orgId: ref("organization").optional().describe("only those of this organization") }),
    returns: () => z.object({ success: z.literal(true), signerGroups: z.array(SignerGroup()) }),
  }),
  create: create("/pam/signer-groups", {
    summary: "Make a group of signers",
    access: writers,
    audit: "pam.signer_group.create",
    errors: [
      "SITE_ACCESS_DENIED",
      "ORG_ID_REQUIRED",
      "ORG_CONTEXT_REQUIRED",
      "ORG_ACCESS_DENIED",
      "ORG_READ_ONLY",
      "LIMIT_REACHED",
      "NAME_TAKEN",
    ],
    body: () =>
      z.strictObject({
        orgId: ref("organization").optional().describe("organization whose rules may name it; default: your own"),
        ...writable(),
        description: writable().description.default(null),
        signers: writable().signers.default([]),
      }),
    returns: written,
  }),
  update: patch("/pam/signer-groups/:id", {
    summary: "Change a group of signers; those that rules name also take pam:manage_policy",
    access: writers,
    audit: "pam.signer_group.update",
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED", "ORG_READ_ONLY", "NO_UPDATES", "NAME_TAKEN", "PERMISSION_DENIED"],
    body: () => z.strictObject(writable()).partial(),
    returns: written,
  }),
  remove: del("/pam/signer-groups/:id", {
    summary: "Delete a group of signers that no rule names",
    access: writers,
    audit: "pam.signer_group.delete",
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED", "ORG_READ_ONLY", "IN_USE"],
    returns: success,
  }),
});
