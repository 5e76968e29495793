import { enrollmentKeyHashes } from "#server/features/credentials/enrollment-keys/key-hash";
import type { Call } from "#server/http/call";
import type { SecretState } from "#server/http/implement";

interface Provisioned {
  readonly device: { readonly id: string };
  readonly enrollment: { readonly enrollmentKey: string };
}

/** What became of the key of an awaited device that an answer from memory shows. */
export async function provisionState(call: Call, { device, enrollment }: Provisioned): Promise<SecretState> {
  const row = await call.db
    .selectFrom("devices")
    .select(["status", "provisionKeyHash", "provisionKeyExpiresAt"])
    .where("id", "=", device.id)
    .executeTakeFirst();
  if (!row || row.status === "decommissioned") return "gone";
  const hashes: readonly (string | null)[] = enrollmentKeyHashes(call.config, enrollment.enrollmentKey);
  const isAwaited = row.status === "pending" && (row.provisionKeyExpiresAt ?? "") > call.clock.now();
  return isAwaited && hashes.includes(row.provisionKeyHash) ? "current" : "stale";
}
