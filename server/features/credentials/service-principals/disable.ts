import type { Endpoint } from "#contract/core/endpoint";
import type { servicePrincipals } from "#contract/resources/credentials/service-principals";
import { refuseSiteRestricted } from "#server/access/org-access";
import { revokeKeysOfPrincipal } from "#server/features/credentials/api-keys/revoke-keys-of-principal";
import type { Call } from "#server/http/call";
import { getServicePrincipal, holdServicePrincipal } from "./queries.ts";
import { touch } from "./touch.ts";

type DisableCall = typeof servicePrincipals.disable extends Endpoint<infer T> ? Call<T> : never;

/**
 * Disables a principal and revokes its keys, whatever the state of its organization
 * (docs/conventions.md, "Read-only organizations"). Disabling again changes nothing and gets the same answer.
 */
export async function disableServicePrincipal(call: DisableCall) {
  refuseSiteRestricted(call);
  return call.transaction(async (tx) => {
    const principal = await holdServicePrincipal(call, tx, call.params.id);
    if (principal.status === "disabled") {
      call.audit.skip();
      return getServicePrincipal(call, tx, principal.id);
    }
    await touch(call, principal.id, { status: "disabled" });
    const revokedKeys = await revokeKeysOfPrincipal(call, principal.id, call.clock.now());
    call.audit.note({ details: { revokedKeys } });
    return getServicePrincipal(call, tx, principal.id);
  });
}
