import type { Endpoint } from "#contract/core/endpoint";
import type { servicePrincipals } from "#contract/resources/credentials/service-principals";
import { refuseSiteRestricted } from "#server/access/org-access";
import { user } from "#server/access/principal";
import { refuseBeyondOwn } from "#server/features/credentials/api-keys/delegation";
import { insertApiKey } from "#server/features/credentials/api-keys/insert-api-key";
import { newApiKey, WARNING } from "#server/features/credentials/api-keys/key-material";
import { revokeKeysOfPrincipal } from "#server/features/credentials/api-keys/revoke-keys-of-principal";
import type { Call } from "#server/http/call";
import { holdActivePrincipal } from "./queries.ts";
import { touch } from "./touch.ts";

type RotateCall = typeof servicePrincipals.rotate extends Endpoint<infer T> ? Call<T> : never;

/** Requests per hour of a key without a chosen limit (docs/credentials.md, "Service principals"). */
const RATE_LIMIT_DEFAULT = 1000;

/** Makes the principal's next key with all its scopes. From this commit on the key before is refused. */
export async function rotateServicePrincipal(call: RotateCall) {
  refuseSiteRestricted(call);
  return call.transaction(async (tx) => {
    const { principal } = await holdActivePrincipal(call, tx, call.params.id);
    refuseBeyondOwn(call, principal.scopes);
    const now = call.clock.now();
    await revokeKeysOfPrincipal(call, principal.id, now);
    const { key, keyPrefix, keyHash } = newApiKey(call.random);
    const apiKeyId = call.random.uuid();
    const chosen = {
      id: apiKeyId,
      orgId: principal.orgId,
      name: `${[...principal.name].slice(0, 241).join("")} (service key)`,
      keyPrefix,
      keyHash,
      scopes: principal.scopes,
      expiresAt: null,
      rateLimit: RATE_LIMIT_DEFAULT,
    };
    const owner = { principalType: "service" as const, principalId: principal.id, createdBy: user(call).userId };
    await insertApiKey(call, { ...chosen, ...owner }, now);
    await touch(call, principal.id);
    call.audit.note({ details: { newKeyId: apiKeyId, newKeyPrefix: keyPrefix } });
    return { apiKeyId, key, keyPrefix, warning: WARNING };
  });
}
