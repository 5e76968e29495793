import { underLimits } from "#server/access/attempts";
import { checkPassword } from "#server/access/password";
import type { Limit } from "#server/access/rate-limit";
import { findUserById } from "#server/features/people/core/find-user";
import { requireHomeSession } from "#server/features/sign-in/core/home-session";
import { useFactor } from "#server/features/sign-in/mfa/factor";
import { type Call, user } from "#server/http/call";
import { MINUTE } from "#server/platform/clock";
import { problem } from "#server/problem";

/** How often who has to prove it again may fail, whatever for. */
const reauthLimit: Limit = { name: "elevation-reauth", max: 5, windowSeconds: (15 * MINUTE) / 1_000 };

interface Given {
  readonly reauthPassword?: string | undefined;
  readonly reauthMfaCode?: string | undefined;
}

/**
 * The person proves once more who they are: by their password, or, only where they have none, by a code of their
 * authenticator app, which counts once. No recovery code is taken. Only in a home session, so that no other tenant's
 * provider guesses. Failures are counted before they are judged, apart from those that lock an account. Must run before a
 * transaction.
 */
export async function requireReauth(
  call: Pick<Call, "services" | "asSystem" | "readAsSystem" | "who" | "clock" | "random" | "audit">,
  { reauthPassword, reauthMfaCode }: Given,
): Promise<void> {
  await requireHomeSession(call);
  const { userId } = user(call);
  const account = await call.readAsSystem("sign-in", (db) => findUserById(db, userId));
  if (!account) throw problem("UNAUTHENTICATED");
  const given = account.passwordHash === null ? reauthMfaCode : reauthPassword;
  // Nothing was guessed.
  if (given === undefined) throw problem("reauth_required");
  await underLimits(call.services, [[reauthLimit, userId]], async () => {
    const proven =
      account.passwordHash === null
        ? await call.asSystem("sign-in", (tx) => useFactor(call, tx, account, { code: given, method: "totp" }))
        : await checkPassword(given, account.passwordHash);
    if (!proven) throw problem("reauth_required");
  });
}
