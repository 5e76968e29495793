import type { Endpoint } from "#contract/core/endpoint";
import type { apiKeys } from "#contract/resources/credentials/api-keys";
import { orgForCreate, refuseSiteRestricted } from "#server/access/org-access";
import { user } from "#server/access/principal";
import { held } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { invalid } from "#server/problem";
import { delegable } from "./delegation.ts";
import { getApiKey } from "./get-api-key.ts";
import { insertApiKey } from "./insert-api-key.ts";
import { newApiKey, WARNING } from "./key-material.ts";

type CreateCall = typeof apiKeys.create extends Endpoint<infer T> ? Call<T> : never;

/** Creates a key of an organization. Only this answer shows its material (docs/credentials.md, "API keys"). */
export async function createApiKey(call: CreateCall) {
  refuseSiteRestricted(call);
  return call.transaction(async (tx) => {
    const { name, expiresAt, rateLimit } = call.body;
    await holdOrganization(call, tx);
    const org = await orgForCreate(call, call.body.orgId, tx);
    const id = call.random.uuid();
    const now = call.clock.now();
    call.audit.note({ resource: { id, name }, owner: { orgId: org.id } });
    if (expiresAt !== null && expiresAt <= now) {
      throw invalid({ path: "expiresAt", message: "expiresAt: must be in the future" });
    }
    const scopes = delegable(call, call.body.scopes);
    const { key, keyPrefix, keyHash } = newApiKey(call.random);
    const chosen = { id, orgId: org.id, name, keyPrefix, keyHash, scopes, expiresAt, rateLimit };
    const owner = { principalType: "human" as const, principalId: null, createdBy: user(call).userId };
    await insertApiKey(call, { ...chosen, ...owner }, now);
    call.audit.note({ details: { keyPrefix, scopes, expiresAt, rateLimit } });
    const made = await getApiKey(call, tx, id);
    return {
      id,
      orgId: made.orgId,
      name: made.name,
      key,
      keyPrefix,
      scopes: made.scopes,
      expiresAt: made.expiresAt,
      rateLimit: made.rateLimit,
      createdBy: made.createdBy,
      createdAt: made.createdAt,
      status: made.status,
      warning: WARNING,
    };
  });
}

/** An organization that is being deleted waits for this key, and then revokes it with the others. */
async function holdOrganization(call: CreateCall, tx: Tx): Promise<void> {
  const row = tx.selectFrom("organizations").select("id").where("id", "=", call.body.orgId);
  await held(row, call.services.store.dialect).execute();
}
