import { memberships } from "#contract/resources/people/memberships";
import { implement, judgingSecret } from "#server/http/implement";
import { acceptOwn } from "./accept.ts";
import { listOwn } from "./list.ts";
import { leave } from "./remove.ts";
import { sessionState } from "./secret-state.ts";
import { selectOwn } from "./select.ts";

export const routes = implement(memberships, {
  list: listOwn,
  accept: acceptOwn,
  select: judgingSecret(selectOwn, sessionState),
  remove: leave,
});
