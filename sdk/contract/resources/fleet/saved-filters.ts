import { z } from "zod";
import { staff } from "../../core/access.ts";
import { create, del, get, type Noun, patch, post, resource, shape } from "../../core/endpoint.ts";
import { type FieldMeta, idOf, instant, listedName, ref, searchText, text } from "../../core/fields.ts";
import { filterFaultCodes } from "../../core/filters/faults.ts";
import { givenFilter, shownFilter } from "../../core/filters/given-filter.ts";
import { boundedInt } from "../../core/page.ts";
import { deviceStatuses, osTypes } from "./devices.ts";

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

/** What a filter matches at one moment, and the first of it (docs/filters.md, "Previews"). */
export const FilterPreview = shape("FilterPreview", () =>
  z.object({
    data: z.object({
      totalCount: z.int(),
      devices: z.array(
        z.object({
          id: idOf("device"),
          hostname: z.string(),
          displayName: z.string().nullable(),
          osType: z.enum(osTypes),
          status: z.enum(deviceStatuses),
          lastSeenAt: instant().nullable(),
        }),
      ),
      evaluatedAt: instant(),
    }),
  }),
);

const SHOWN = { default: 10, min: 1, max: 100 } as const;

const narrowed = () => ref("organization").optional().describe("only devices of this organization");

const readers = staff().needs("devices:read");
const writers = staff().needs("devices:write");

const about: Noun = {
  name: "saved-filters",
  summary: "Filters of devices that are kept under a name",
  thing: "saved-filter",
  kinds: { "saved-filter": { names: ["name"], example: "Windows servers" } },
  audits: ["filter.create", "filter.update", "filter.delete", "filter.preview", "filter.saved.preview"],
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
      ...filterFaultCodes,
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
  preview: post("/filters/preview", {
    summary: "Count the devices of a filter, and show the first by hostname",
    description:
      "Over every organization that the caller reaches. Decommissioned devices only where a condition asks for that status.",
    access: readers,
    audit: "filter.preview",
    loses: "nothing",
    errors: [...filterFaultCodes, "FILTER_TIMEOUT", "ORG_ACCESS_DENIED"],
    query: () => z.object({ orgId: narrowed() }),
    body: () =>
      z.object({
        conditions: givenFilter(),
        limit: z.int().min(SHOWN.min).max(SHOWN.max).default(SHOWN.default).describe("devices to show"),
      }),
    returns: FilterPreview,
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
    errors: [...filterFaultCodes, "NOT_FOUND", "SITE_ACCESS_DENIED", "ORG_READ_ONLY", "LIMIT_REACHED", "NO_UPDATES"],
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
  previewSaved: post("/filters/:id/preview", {
    summary: "Count the devices of a saved filter, and show the first by hostname",
    description:
      "Over every organization that the caller reaches. Decommissioned devices only where a condition asks for that status.",
    access: readers,
    audit: "filter.saved.preview",
    loses: "nothing",
    errors: ["NOT_FOUND", "FILTER_TIMEOUT", "ORG_ACCESS_DENIED"],
    query: () => z.object({ limit: boundedInt(SHOWN).describe("devices to show"), orgId: narrowed() }),
    returns: FilterPreview,
  }),
});
