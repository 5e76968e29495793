import type { Tx } from "#server/db/unit-of-work";
import type { SignInUser } from "#server/features/people/core/find-user";
import { takeTimeStep } from "#server/features/people/core/second-factor";
import type { AuditOwner, Call } from "#server/http/call";
import { acceptedStep, type Method, readCode } from "./rules.ts";

type Maker = Pick<Call, "clock" | "random" | "services" | "audit">;

export const sealedFor = (userId: string) => `mfa:${userId}`;
export const pendingFor = (userId: string) => `mfa-pending:${userId}`;

/** Keyed with the server's key: a stolen database alone does not let the short codes be guessed. */
export const recoveryHash = (call: Pick<Call, "services">, userId: string, code: string): string =>
  call.services.vault.mac(code, `recovery-code:${userId}`);

/**
 * Uses a code of the user's factor: each time step and each recovery code counts once, also when two
 * calls come at the same moment. Answers which it was, or undefined when the code is wrong or used.
 */
export async function useFactor(
  call: Maker,
  tx: Tx,
  user: Pick<SignInUser, "id" | "mfaSecret" | "mfaLastStep">,
  given: { code: string; method?: Method | undefined },
): Promise<Method | undefined> {
  const { method, code } = readCode(given.code, given.method);
  const used = method === "totp" ? await useStep(call, tx, user, code) : await useRecoveryCode(call, tx, user.id, code);
  return used ? method : undefined;
}

async function useStep(
  call: Maker,
  tx: Tx,
  user: Pick<SignInUser, "id" | "mfaSecret" | "mfaLastStep">,
  code: string,
): Promise<boolean> {
  if (user.mfaSecret === null) return false;
  const secret = call.services.vault.open(user.mfaSecret, sealedFor(user.id));
  const step = acceptedStep(secret, code, call.clock.nowMs(), user.mfaLastStep);
  return step !== undefined && takeTimeStep(tx, user, step);
}

async function useRecoveryCode(call: Maker, tx: Tx, userId: string, code: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("recoveryCodes")
    .set({ usedAt: call.clock.now() })
    .where("userId", "=", userId)
    .where("codeHash", "=", recoveryHash(call, userId, code))
    .where("usedAt", "is", null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Replaces all recovery codes of a user by these. */
export async function storeRecoveryCodes(call: Maker, tx: Tx, userId: string, codes: readonly string[]): Promise<void> {
  await tx.deleteFrom("recoveryCodes").where("userId", "=", userId).execute();
  await tx
    .insertInto("recoveryCodes")
    .values(
      codes.map((code) => ({
        id: call.random.uuid(),
        userId,
        codeHash: recoveryHash(call, userId, code),
        usedAt: null,
        createdAt: call.clock.now(),
      })),
    )
    .execute();
}

/** Records that a recovery code was used, so that its owner can see it. */
export function alsoRecoveryCode(
  call: Pick<Call, "audit">,
  user: Pick<SignInUser, "id" | "email" | "name">,
  owner?: AuditOwner,
): void {
  call.audit.also({
    action: "auth.mfa.recovery_code.used",
    resource: { type: "user", id: user.id, name: user.name },
    actor: { type: "user", id: user.id, email: user.email },
    ...(owner && { owner }),
  });
}
