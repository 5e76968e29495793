import { ssoDomains } from "#contract/resources/sign-in/sso-domains";
import { implement } from "#server/http/implement";
import { createDomain } from "./create.ts";
import { listDomains } from "./list.ts";
import { removeDomain } from "./remove.ts";
import { verifyDomain } from "./verify.ts";

export const routes = implement(ssoDomains, {
  list: listDomains,
  create: createDomain,
  verify: verifyDomain,
  remove: removeDomain,
});
