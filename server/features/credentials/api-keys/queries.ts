import { holdCredential } from "#server/access/write-credentials";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { getApiKey } from "./get-api-key.ts";
import type { ApiKeyStatus } from "./rules.ts";

/** The key, held until the transaction ends and named in its audit entry. */
export async function holdApiKey(call: Call, tx: Tx, id: string) {
  await getApiKey(call, tx, id);
  await holdCredential(call, "apiKeys", id);
  const key = await getApiKey(call, tx, id);
  call.audit.note({
    resource: { id: key.id, name: key.name },
    owner: { orgId: key.orgId },
    details: { keyPrefix: key.keyPrefix },
  });
  return key;
}

/** Revoked and expired keys cannot be changed (docs/credentials.md, "Life of an API key"). */
export function refuseInactive(key: { status: ApiKeyStatus }): void {
  if (key.status === "active") return;
  throw problem("API_KEY_NOT_ACTIVE", {
    message: `Cannot update ${key.status} API key`,
    details: { status: key.status },
  });
}
