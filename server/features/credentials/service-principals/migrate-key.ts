import type { Endpoint } from "#contract/core/endpoint";
import type { servicePrincipals } from "#contract/resources/credentials/service-principals";
import { refuseSiteRestricted } from "#server/access/org-access";
import { holdCredential } from "#server/access/write-credentials";
import type { Tx } from "#server/db/unit-of-work";
import { refuseBeyondOwn } from "#server/features/credentials/api-keys/delegation";
import { getApiKey } from "#server/features/credentials/api-keys/get-api-key";
import { giveToPrincipal } from "#server/features/credentials/api-keys/give-to-principal";
import { revokeKeysOfPrincipal } from "#server/features/credentials/api-keys/revoke-keys-of-principal";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { holdActivePrincipal } from "./queries.ts";
import { touch } from "./touch.ts";

type MigrateCall = typeof servicePrincipals.migrateKey extends Endpoint<infer T> ? Call<T> : never;

/**
 * Makes an existing key the principal's, with the scopes that both have (docs/credentials.md, "Service principals").
 * The material stays, so users of the key are not interrupted; the principal's previous key is revoked, because it has
 * at most one. A key of another principal of the organization can be taken over, and one that is already this
 * principal's is cut to its scopes again.
 */
export async function migrateKey(call: MigrateCall) {
  refuseSiteRestricted(call);
  return call.transaction(async (tx) => {
    const { principal } = await holdActivePrincipal(call, tx, call.params.id);
    const key = await heldKey(call, tx, call.body.keyId);
    if (key.orgId !== principal.orgId) throw problem("KEY_IN_OTHER_ORG");
    if (key.status !== "active") throw problem("INVALID_STATE", { details: { status: key.status } });
    const scopes = key.scopes.filter((scope) => principal.scopes.includes(scope));
    refuseBeyondOwn(call, scopes);
    const now = call.clock.now();
    await revokeKeysOfPrincipal(call, principal.id, now, key.id);
    const moved = await giveToPrincipal(call, key.id, { principalId: principal.id, scopes, now });
    if (!moved) throw problem("INVALID_STATE");
    await touch(call, principal.id);
    call.audit.note({ details: { newKeyId: key.id, newKeyPrefix: key.keyPrefix, previousScopes: key.scopes, scopes } });
    return getApiKey(call, tx, key.id);
  });
}

async function heldKey(call: Call, tx: Tx, id: string) {
  await getApiKey(call, tx, id);
  await holdCredential(call, "apiKeys", id);
  return getApiKey(call, tx, id);
}
