import type { NewNoun, NounNames } from "./names.ts";
import { isSpecified } from "./new-endpoint.ts";

export const contractFile = (
  { noun, key, thing, shape, prefix, words, aThing, many }: NounNames,
  wanted: NewNoun,
): string => {
  const own = (method: string, path: string) => (isSpecified(method, path) ? "" : '\n    own: "",');
  return `\
import { z } from "zod";
import { staff } from "../../core/access.ts";
import { create, del, get, type Noun, patch, resource, shape } from "../../core/endpoint.ts";
import { type FieldMeta, instant, ref, success, text } from "../../core/fields.ts";
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

const name = () => text(255).meta({ description: "display name", example: "First ${words}" } satisfies FieldMeta);
const readers = staff().needs("${wanted.permission}:read");
const writers = staff().needs("${wanted.permission}:write");

const about: Noun = {
  name: "${noun}",
  summary: "${wanted.summary}",
  thing: "${thing}",
  kinds: { "${thing}": { names: ["name"], example: "First ${words}" } },
  audits: ["${prefix}.create", "${prefix}.update", "${prefix}.delete"],
};

export const ${key} = resource(about, {
  list: get("/${noun}", {
    summary: "List ${many}",${own("GET", `/${noun}`)}
    access: readers,
    errors: ["ORG_ACCESS_DENIED"],
    paging: paged,
    columns: ["name", "orgId", "createdAt", "id"],
    query: () =>
      z.object({ ...pageQuery(), orgId: ref("organization").optional().describe("only those of this organization") }),
    returns: () => pageOf(${shape}()),
  }),
  create: create("/${noun}", {
    summary: "Create ${aThing}",${own("POST", `/${noun}`)}
    access: writers,
    audit: "${prefix}.create",
    errors: ["ORG_ID_REQUIRED", "ORG_CONTEXT_REQUIRED", "ORG_ACCESS_DENIED", "ORG_READ_ONLY"],
    body: () =>
      z.strictObject({
        orgId: ref("organization").optional().describe("needed in partner and system scope"),
        name: name(),
      }),
    returns: ${shape},
  }),
  get: get("/${noun}/:id", {
    summary: "Show ${aThing}",${own("GET", `/${noun}/:id`)}
    access: readers,
    errors: ["NOT_FOUND"],
    returns: ${shape},
  }),
  update: patch("/${noun}/:id", {
    summary: "Change ${aThing}",${own("PATCH", `/${noun}/:id`)}
    access: writers,
    audit: "${prefix}.update",
    errors: ["NOT_FOUND", "NO_UPDATES", "ORG_READ_ONLY"],
    body: () => z.strictObject({ name: name() }).partial(),
    returns: ${shape},
  }),
  remove: del("/${noun}/:id", {
    summary: "Delete ${aThing}",${own("DELETE", `/${noun}/:id`)}
    access: writers,
    audit: "${prefix}.delete",
    errors: ["NOT_FOUND", "ORG_READ_ONLY"],
    returns: success,
  }),
});
`;
};

export const sentence = (summary: string): string => `${summary.replace(/\.$/, "")}.`;
