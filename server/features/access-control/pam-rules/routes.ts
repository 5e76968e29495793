import { pamRules } from "#contract/resources/access-control/pam-rules";
import { implement } from "#server/http/implement";
import { createRule } from "./create.ts";
import { listRules } from "./list.ts";
import { previewRule } from "./preview.ts";
import { removeRule } from "./remove.ts";
import { updateRule } from "./update.ts";

export const routes = implement(pamRules, {
  list: listRules,
  create: createRule,
  preview: previewRule,
  update: updateRule,
  remove: removeRule,
});
