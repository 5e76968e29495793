import type { Endpoint } from "#contract/core/endpoint";
import type { mfa } from "#contract/resources/sign-in/mfa";
import { underLimits } from "#server/access/attempts";
import { ownerOf } from "#server/access/membership";
import type { Tx } from "#server/db/unit-of-work";
import { adoptFactor } from "#server/features/people/core/second-factor";
import { requireHomeSession } from "#server/features/sign-in/core/home-session";
import { revokeSessions } from "#server/features/sign-in/core/revoke-sessions";
import { markMfaVerified } from "#server/features/sign-in/core/session-mfa";
import { renewOwnTokens } from "#server/features/sign-in/core/tokens";
import { endUserTokens } from "#server/features/sign-in/core/user-tokens";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { pendingFor, sealedFor, storeRecoveryCodes } from "./factor.ts";
import { acceptedStep, mfaPerUser, readCode } from "./rules.ts";
import type { PendingFactor } from "./setup.ts";

type EnableCall = typeof mfa.enable extends Endpoint<infer T> ? Call<T> : never;

/**
 * Turns the pending factor on. The caller's session has proved it and goes on with the new tokens; sessions
 * made before there was a factor end.
 */
export async function enableMfa(call: EnableCall) {
  const who = user(call);
  const { userId, name, sessionId } = who;
  call.audit.note({ resource: { type: "user", id: userId, name } });
  await requireHomeSession(call);
  const pending = await findPending(call, userId);
  const step = await underLimits(call.services, [[mfaPerUser, userId]], async () => provenStep(call, pending));
  return call.transaction(() =>
    call.asSystem("sign-in", async (tx) => {
      await adopt(call, tx, { userId, ...pending, step });
      const now = call.clock.now();
      await storeRecoveryCodes(call, tx, userId, pending.factor.recoveryCodes);
      await revokeSessions(tx, { userId, except: sessionId }, "second factor enabled", now);
      await endUserTokens(tx, userId, ["mfa_login"]);
      await markMfaVerified(tx, sessionId, now);
      call.audit.note({ details: { method: "totp" } });
      call.emit("user.mfa.enabled", { ...ownerOf(who), data: { userId, userName: name } });
      const tokens = await renewOwnTokens(call, tx);
      return { success: true as const, recoveryCodes: pending.factor.recoveryCodes, ...tokens };
    }),
  );
}

type Pending = Awaited<ReturnType<typeof findPending>>;

/** The time step of the code that proves the setup. */
function provenStep(call: EnableCall, { factor, lastStep }: Pending): number {
  const { code } = readCode(call.body.code, "totp");
  const step = acceptedStep(factor.secret, code, call.clock.nowMs(), lastStep);
  if (step === undefined) throw problem("INVALID_MFA_CODE");
  return step;
}

async function findPending(call: EnableCall, userId: string) {
  const row = await call.readAsSystem("sign-in", (db) =>
    db
      .selectFrom("users")
      .select(["mfaPending", "mfaPendingExpiresAt", "mfaLastStep"])
      .where("id", "=", userId)
      .where("mfaSecret", "is", null)
      .executeTakeFirst(),
  );
  const expired = !row?.mfaPendingExpiresAt || row.mfaPendingExpiresAt <= call.clock.now();
  if (!row || row.mfaPending === null || expired) throw problem("NO_PENDING_MFA_SETUP");
  const factor = JSON.parse(call.services.vault.open(row.mfaPending, pendingFor(userId))) as PendingFactor;
  return { sealed: row.mfaPending, factor, lastStep: row.mfaLastStep };
}

interface Adopted {
  userId: string;
  sealed: string;
  factor: PendingFactor;
  step: number;
}

/** Only the setup that was just proved, and once. */
async function adopt(call: EnableCall, tx: Tx, { userId, sealed, factor, step }: Adopted): Promise<void> {
  const secret = call.services.vault.seal(factor.secret, sealedFor(userId));
  const adopted = await adoptFactor(tx, userId, { pending: sealed, secret, step, now: call.clock.now() });
  if (!adopted) throw problem("NO_PENDING_MFA_SETUP");
}
