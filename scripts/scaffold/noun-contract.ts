import type { NewNoun, NounNames } from "./names.ts";

export const contractFile = (
  { noun, key, thing, shape, prefix, aThing, many }: NounNames,
  wanted: NewNoun,
): string => `\
import { z } from "zod";
import { staff } from "../../core/access.ts";
import { create, del, get, type Noun, patch, resource, shape } from "../../core/endpoint.ts";
import { instant, ref, success, text } from "../../core/fields.ts";
import { paged, pageOf, pageQuery } from "../../core/page.ts";

/** ${sentence(wanted.summary)} */
export const ${shape} = shape("${shape}", () =>
  z.object({
    id: z.string(),
    orgId: z.string(),
    name: z.string(),
    createdAt: instant(),
    updatedAt: instant(),
  }),
);

const readers = staff().needs("${wanted.permission}:read");
const writers = staff().needs("${wanted.permission}:write");

const about: Noun = {
  name: "${noun}",
  summary: "${wanted.summary}",
  thing: "${thing}",
  auditPrefixes: ["${prefix}"],
};

export const ${key} = resource(about, {
  list: get("/${noun}", {
    summary: "List ${many}",
    access: readers,
    errors: ["ORG_ACCESS_DENIED"],
    paging: paged,
    columns: ["name", "orgId", "createdAt", "id"],
    query: () => z.object({ ...pageQuery(), orgId: ref("organization").optional() }),
    returns: () => pageOf(${shape}()),
  }),
  create: create("/${noun}", {
    summary: "Create ${aThing}",
    access: writers,
    audit: "${prefix}.create",
    errors: ["ORG_ID_REQUIRED", "ORG_CONTEXT_REQUIRED", "ORG_ACCESS_DENIED", "ORG_READ_ONLY"],
    body: () =>
      z.strictObject({
        orgId: ref("organization").optional().describe("needed in partner and system scope"),
        name: text(255),
      }),
    returns: ${shape},
  }),
  get: get("/${noun}/:id", {
    summary: "Show ${aThing}",
    access: readers,
    errors: ["NOT_FOUND"],
    returns: ${shape},
  }),
  update: patch("/${noun}/:id", {
    summary: "Change ${aThing}",
    access: writers,
    audit: "${prefix}.update",
    errors: ["NOT_FOUND", "NO_UPDATES", "ORG_READ_ONLY"],
    body: () => z.strictObject({ name: text(255) }).partial(),
    returns: ${shape},
  }),
  remove: del("/${noun}/:id", {
    summary: "Delete ${aThing}",
    access: writers,
    audit: "${prefix}.delete",
    errors: ["NOT_FOUND", "ORG_READ_ONLY"],
    returns: success,
  }),
});
`;

export const sentence = (summary: string): string => `${summary.replace(/\.$/, "")}.`;
