import { servicePrincipals } from "#contract/resources/credentials/service-principals";
import { apiKeyState } from "#server/features/credentials/api-keys/secret-state";
import { implement, judgingSecret } from "#server/http/implement";
import { createServicePrincipal } from "./create.ts";
import { disableServicePrincipal } from "./disable.ts";
import { listServicePrincipals } from "./list.ts";
import { migrateKey } from "./migrate-key.ts";
import { getServicePrincipal } from "./queries.ts";
import { rotateServicePrincipal } from "./rotate.ts";

export const routes = implement(servicePrincipals, {
  list: listServicePrincipals,
  create: createServicePrincipal,
  get: (call) => getServicePrincipal(call, call.db, call.params.id),
  rotate: judgingSecret(rotateServicePrincipal, (call, { apiKeyId, key }) => apiKeyState(call, apiKeyId, key)),
  disable: disableServicePrincipal,
  migrateKey,
});
