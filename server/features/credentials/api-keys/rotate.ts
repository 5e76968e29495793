import type { Endpoint } from "#contract/core/endpoint";
import type { apiKeys } from "#contract/resources/credentials/api-keys";
import { getWritableOrg, refuseSiteRestricted } from "#server/access/org-access";
import { writeCredentials } from "#server/access/write-credentials";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { refuseBeyondOwn } from "./delegation.ts";
import { getApiKey } from "./get-api-key.ts";
import { newApiKey, WARNING } from "./key-material.ts";
import { holdApiKey, refuseInactive } from "./queries.ts";

type RotateCall = typeof apiKeys.rotate extends Endpoint<infer T> ? Call<T> : never;

/** Replaces a key's material and resets its counters. From this commit on the old key is refused. */
export async function rotateApiKey(call: RotateCall) {
  refuseSiteRestricted(call);
  return call.transaction(async (tx) => {
    const before = await holdApiKey(call, tx, call.params.id);
    await getWritableOrg(call, before.orgId, tx);
    refuseInactive(before);
    if (before.principalType === "service") throw problem("SERVICE_PRINCIPAL_KEY");
    refuseBeyondOwn(call, before.scopes);
    const { key, keyPrefix, keyHash } = newApiKey(call.random);
    const now = call.clock.now();
    const rotated = await writeCredentials(call, (all) =>
      all
        .updateTable("apiKeys")
        .set({ keyPrefix, keyHash, issuedBy: user(call).userId, usageCount: 0, lastUsedAt: null })
        .set({ keyIssuedAt: now, updatedAt: now })
        .where("id", "=", before.id)
        .where("status", "=", "active")
        .executeTakeFirst(),
    );
    if (rotated.numUpdatedRows !== 1n) throw problem("API_KEY_NOT_ACTIVE");
    call.audit.note({
      details: { keyPrefix, previousKeyPrefix: before.keyPrefix, previousUsageCount: before.usageCount },
    });
    return { ...(await getApiKey(call, tx, before.id)), key, warning: WARNING };
  });
}
