import type { Endpoint } from "#contract/core/endpoint";
import type { apiKeys } from "#contract/resources/credentials/api-keys";
import { refuseSiteRestricted } from "#server/access/org-access";
import { writeCredentials } from "#server/access/write-credentials";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { getApiKey } from "./get-api-key.ts";
import { holdApiKey, refuseInactive } from "./queries.ts";

type RevokeCall = typeof apiKeys.revoke extends Endpoint<infer T> ? Call<T> : never;

/**
 * Revokes an active or expired key, whatever the state of its organization
 * (docs/conventions.md, "Read-only organizations"). The row stays. Keys of service principals can be revoked here as
 * well.
 */
export async function revokeApiKey(call: RevokeCall) {
  refuseSiteRestricted(call);
  return call.transaction(async (tx) => {
    const key = await holdApiKey(call, tx, call.params.id);
    if (key.status === "revoked") refuseInactive(key);
    const revoked = await writeCredentials(call, (all) =>
      all
        .updateTable("apiKeys")
        .set({ status: "revoked", updatedAt: call.clock.now() })
        .where("id", "=", key.id)
        .where("status", "<>", "revoked")
        .executeTakeFirst(),
    );
    if (revoked.numUpdatedRows !== 1n) throw problem("API_KEY_NOT_ACTIVE");
    call.audit.note({ details: { previousStatus: key.status } });
    const { id, name, keyPrefix, status, updatedAt } = await getApiKey(call, tx, key.id);
    return { success: true as const, apiKey: { id, name, keyPrefix, status, updatedAt } };
  });
}
