import { partnerServicePrincipals } from "#contract/resources/credentials/partner-service-principals";
import { implement, judgingSecret } from "#server/http/implement";
import { createPartnerPrincipal } from "./create.ts";
import { issueKey, revokeKey, rotateKey } from "./keys.ts";
import { listPartnerPrincipals } from "./list.ts";
import { partnerKeyState } from "./secret-state.ts";
import { updatePartnerPrincipal } from "./update.ts";

export const routes = implement(partnerServicePrincipals, {
  list: listPartnerPrincipals,
  create: createPartnerPrincipal,
  update: updatePartnerPrincipal,
  issueKey: judgingSecret(issueKey, partnerKeyState),
  rotateKey: judgingSecret(rotateKey, partnerKeyState),
  revokeKey,
});
