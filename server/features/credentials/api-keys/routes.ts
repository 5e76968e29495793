import { apiKeys } from "#contract/resources/credentials/api-keys";
import { implement } from "#server/http/implement";
import { createApiKey } from "./create.ts";
import { getApiKey } from "./get-api-key.ts";
import { listApiKeys } from "./list.ts";
import { revokeApiKey } from "./revoke.ts";
import { rotateApiKey } from "./rotate.ts";
import { updateApiKey } from "./update.ts";

export const routes = implement(apiKeys, {
  list: listApiKeys,
  create: createApiKey,
  get: (call) => getApiKey(call, call.db, call.params.id),
  update: updateApiKey,
  revoke: revokeApiKey,
  rotate: rotateApiKey,
});
