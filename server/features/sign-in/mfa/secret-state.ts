import { type Call, user } from "#server/http/call";
import type { SecretState } from "#server/http/implement";
import { pendingFor, recoveryHash } from "./factor.ts";
import type { PendingFactor } from "./setup.ts";

/** Whether any of the codes that an answer from memory shows is still good; others may have taken their place. */
export async function recoveryCodesState(
  call: Call,
  { recoveryCodes }: { readonly recoveryCodes: readonly string[] },
): Promise<SecretState> {
  const { userId } = user(call);
  const hashes = recoveryCodes.map((code) => recoveryHash(call, userId, code));
  const left = await call.readAsSystem("sign-in", (db) =>
    db
      .selectFrom("recoveryCodes")
      .select("id")
      .where("userId", "=", userId)
      .where("codeHash", "in", hashes)
      .where("usedAt", "is", null)
      .executeTakeFirst(),
  );
  return left ? "current" : "stale";
}

/** Whether a setup that an answer from memory shows still waits for its first code. */
export async function setupState(call: Call, { secret }: { readonly secret: string }): Promise<SecretState> {
  const { userId } = user(call);
  const row = await call.readAsSystem("sign-in", (db) =>
    db.selectFrom("users").select(["mfaPending", "mfaPendingExpiresAt"]).where("id", "=", userId).executeTakeFirst(),
  );
  if (!row?.mfaPending || (row.mfaPendingExpiresAt ?? "") <= call.clock.now()) return "stale";
  const pending = JSON.parse(call.services.vault.open(row.mfaPending, pendingFor(userId))) as PendingFactor;
  return pending.secret === secret ? "current" : "stale";
}
