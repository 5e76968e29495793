import { z } from "zod";
import { staff } from "../../core/access.ts";
import { get, type Noun, resource, shape } from "../../core/endpoint.ts";
import { type FieldMeta, idOf, link } from "../../core/fields.ts";
import { boundedInt } from "../../core/page.ts";

/** Something that a search found (docs/search.md, "What is searched"). */
const SearchResult = shape("SearchResult", () =>
  z.object({
    id: idOf().describe("of a settings page its name, else the id of the row"),
    type: z.enum(["devices", "settings"]),
    title: z.string(),
    description: z.string().optional(),
    href: link("uri-reference").optional().describe("of settings pages: path below the application's address"),
  }),
);

const QUERY_MAX = 100;

/** A word of a person; an unreadable limit is refused, because a search has no further pages. */
const searched = () =>
  z
    .string()
    .trim()
    .refine((value) => value !== "", "must not be blank")
    .refine((value) => [...value].length <= QUERY_MAX, `must have at most ${QUERY_MAX} characters`)
    .refine((value) => !value.includes("\u0000") && value.isWellFormed(), "must be well-formed text")
    .meta({
      description: "part of a name; matched without case, and literally",
      example: "reception",
      published: { type: "string", minLength: 1, maxLength: QUERY_MAX },
    } satisfies FieldMeta);

const about: Noun = {
  name: "search",
  summary: "Find devices and settings by a part of their name",
  audits: [],
};

export const search = resource(about, {
  find: get("/search", {
    summary: "Find devices and settings by a part of their name",
    description:
      "Devices by hostname, display name and last user; settings pages by title and description. Each kind needs its read permission.",
    access: staff(),
    paging: { kind: "whole", items: "results" },
    columns: ["type", "title", "description", "id"],
    query: () =>
      z.object({
        q: searched(),
        limit: boundedInt({ default: 20, min: 1, max: 50 }).describe("results at most"),
      }),
    returns: () => z.object({ results: z.array(SearchResult()) }),
  }),
});
