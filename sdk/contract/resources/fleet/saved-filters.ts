import { z } from "zod";
import { staff } from "../../core/access.ts";
import { create, del, get, type Noun, patch, resource, shape } from "../../core/endpoint.ts";
import { type FieldMeta, idOf, instant, listedName, ref, searchText, text } from "../../core/fields.ts";
import { givenFilter, shownFilter } from "../../core/filters/given-filter.ts";

/** A list of saved filters shows so many. */
export const FILTERS_SHOWN = 1_000;

/** A filter under a name (docs/filters.md, "Saved filters"). */
export const SavedFilter = shape("SavedFilter", () =>
  z.object({
    id: idOf("saved-filter"),
    orgId: idOf("organization"),
    orgName: listedName(),
    name: z.string(),
    description: z.string().nullable(),
    conditions: shownFilter(),
    createdBy: idOf("user").nullable(),
    createdAt: instant(),
    updatedAt: instant(),
  }),
);

const writable = () => ({
  name: text(200).meta({ description: "what it is called", example: "Windows servers" } satisfies FieldMeta),
  description: text(1000).nullable().describe("what it is for"),
  conditions: givenFilter(),
});

/** What can be wrong with a filter, beside its structure. */
export const filterFaults = [
  "FILTER_INVALID_STRUCTURE",
  "FILTER_UNKNOWN_FIELD",
  "FILTER_OPERATOR_NOT_ALLOWED",
  "FILTER_VALUE_REQUIRED",
  "FILTER_TYPE_MISMATCH",
  "FILTER_INVALID_REGEX",
  "FILTER_TOO_DEEP",
  "FILTER_TOO_LARGE",
] as const;

const readers = staff().needs("devices:read");
const writers = staff().needs("devices:write");

const about: Noun = {
  name: "saved-filters",
  summary: "Filters of devices that are kept under a name",
  thing: "saved-filter",
  kinds: { "saved-filter": { names: ["name"], example: "Windows servers" } },
  audits: ["filter.create", "filter.update", "filter.delete"],
};

export const savedFilters = resource(about, {
  list: get("/filters", {
    summary: "List saved filters, newest first",
    description: `At most ${FILTERS_SHOWN}; \`total\` counts all.`,
    access: readers,
    errors: ["ORG_ACCESS_DENIED"],
    paging: { kind: "whole", items: "data" },
    columns: ["name", "description", "orgName", "createdAt", "id"],
    query: () =>
      z.object({
        search: searchText().optional().describe("part of name or description"),
        orgId: ref("organization").optional().describe("only those of this organization"),
      }),
    returns: () => z.object({ data: z.array(SavedFilter()), total: z.int() }),
  }),
  create: create("/filters", {
    summary: "Save a filter",
    access: writers,
    audit: "filter.create",
    errors: [
      ...filterFaults,
      "ORG_ID_REQUIRED",
      "ORG_CONTEXT_REQUIRED",
      "ORG_ACCESS_DENIED",
      "SITE_ACCESS_DENIED",
      "ORG_READ_ONLY",
      "LIMIT_REACHED",
    ],
    body: () =>
      z.object({
        orgId: ref("organization")
          .optional()
          .describe("whose filter it is; of members of an organization it is always theirs"),
        ...writable(),
        description: writable().description.default(null),
      }),
    returns: SavedFilter,
  }),
  get: get("/filters/:id", {
    summary: "Show a saved filter",
    access: readers,
    errors: ["NOT_FOUND"],
    returns: SavedFilter,
  }),
  update: patch("/filters/:id", {
    summary: "Change a saved filter; what copied its conditions keeps them",
    access: writers,
    audit: "filter.update",
    errors: [...filterFaults, "NOT_FOUND", "SITE_ACCESS_DENIED", "ORG_READ_ONLY", "LIMIT_REACHED", "NO_UPDATES"],
    body: () => z.object(writable()).partial(),
    returns: SavedFilter,
  }),
  remove: del("/filters/:id", {
    summary: "Delete a saved filter, and show what it was",
    access: writers,
    audit: "filter.delete",
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED", "ORG_READ_ONLY"],
    returns: SavedFilter,
  }),
});
