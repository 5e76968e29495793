import { apiKeys } from "#contract/resources/credentials/api-keys";
import { implement, judgingSecret } from "#server/http/implement";
import { createApiKey } from "./create.ts";
import { getApiKey } from "./get-api-key.ts";
import { listApiKeys } from "./list.ts";
import { revokeApiKey } from "./revoke.ts";
import { rotateApiKey } from "./rotate.ts";
import { apiKeyState } from "./secret-state.ts";
import { updateApiKey } from "./update.ts";

export const routes = implement(apiKeys, {
  list: listApiKeys,
  create: judgingSecret(createApiKey, (call, { id, key }) => apiKeyState(call, id, key)),
  get: (call) => getApiKey(call, call.db, call.params.id),
  update: updateApiKey,
  revoke: revokeApiKey,
  rotate: judgingSecret(rotateApiKey, (call, { id, key }) => apiKeyState(call, id, key)),
});
