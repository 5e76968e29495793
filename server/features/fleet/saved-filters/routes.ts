import { savedFilters } from "#contract/resources/fleet/saved-filters";
import { implement } from "#server/http/implement";
import { createFilter } from "./create.ts";
import { listFilters } from "./list.ts";
import { previewFilter, previewSaved } from "./preview.ts";
import { getFilter } from "./queries.ts";
import { removeFilter } from "./remove.ts";
import { updateFilter } from "./update.ts";

export const routes = implement(savedFilters, {
  list: listFilters,
  create: createFilter,
  preview: previewFilter,
  get: (call) => getFilter(call.db, call.params.id),
  update: updateFilter,
  remove: removeFilter,
  previewSaved,
});
