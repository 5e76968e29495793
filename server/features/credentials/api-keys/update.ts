import type { Endpoint } from "#contract/core/endpoint";
import type { apiKeys } from "#contract/resources/credentials/api-keys";
import { getWritableOrg, refuseSiteRestricted } from "#server/access/org-access";
import { writeCredentials } from "#server/access/write-credentials";
import { changedFields } from "#server/audit/changed-fields";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { delegable } from "./delegation.ts";
import { getApiKey } from "./get-api-key.ts";
import { refuseBeyondPrincipal } from "./principal-scopes.ts";
import { holdApiKey, refuseInactive } from "./queries.ts";

type UpdateCall = typeof apiKeys.update extends Endpoint<infer T> ? Call<T> : never;

/** Name, scopes (replaced as a whole) and rate limit of an active key; the material stays. */
export async function updateApiKey(call: UpdateCall) {
  refuseSiteRestricted(call);
  return call.transaction(async (tx) => {
    const key = await holdApiKey(call, tx, call.params.id);
    await getWritableOrg(call, key.orgId, tx);
    refuseInactive(key);
    const { scopes, ...fields } = call.body;
    const change = scopes === undefined ? fields : { ...fields, scopes: delegable(call, scopes) };
    if ("scopes" in change) await refuseBeyondPrincipal(tx, key, change.scopes);
    const updated = await writeCredentials(call, (all) =>
      all
        .updateTable("apiKeys")
        .set({ ...change, updatedAt: call.clock.now() })
        .where("id", "=", key.id)
        .where("status", "=", "active")
        .executeTakeFirst(),
    );
    if (updated.numUpdatedRows !== 1n) throw problem("API_KEY_NOT_ACTIVE");
    call.audit.note({
      details: {
        changedFields: changedFields(key, change),
        ...("scopes" in change ? { previousScopes: key.scopes, scopes: change.scopes } : {}),
      },
    });
    return getApiKey(call, tx, key.id);
  });
}
