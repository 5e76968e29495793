import { customFields } from "#contract/resources/fleet/custom-fields";
import { implement } from "#server/http/implement";
import { createField } from "./create.ts";
import { showField } from "./get.ts";
import { listFields } from "./list.ts";
import { removeField } from "./remove.ts";
import { setValues } from "./set-values.ts";
import { updateField } from "./update.ts";
import { showValues } from "./values.ts";

export const routes = implement(customFields, {
  list: listFields,
  create: createField,
  get: showField,
  update: updateField,
  remove: removeField,
  values: showValues,
  setValues,
});
