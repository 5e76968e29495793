import { signerGroups } from "#contract/resources/access-control/signer-groups";
import { implement } from "#server/http/implement";
import { createSignerGroup } from "./create.ts";
import { listSignerGroups } from "./list.ts";
import { removeSignerGroup } from "./remove.ts";
import { updateSignerGroup } from "./update.ts";

export const routes = implement(signerGroups, {
  list: listSignerGroups,
  create: createSignerGroup,
  update: updateSignerGroup,
  remove: removeSignerGroup,
});
