import { underLimits } from "#server/access/attempts";
import { checkPassword } from "#server/access/password";
import type { Limit } from "#server/access/rate-limit";
import type { SignInUser } from "#server/features/people/core/find-user";
import { type Call, user } from "#server/http/call";
import { after, MINUTE } from "#server/platform/clock";
import { problem } from "#server/problem";

/**
 * Wrong current passwords of a signed-in user: without a limit a stolen access token could be used to guess the
 * password (docs/sign-in.md, "Guessing").
 */
const confirmPerUser: Limit = { name: "confirm-password", max: 5, windowSeconds: 300 };

/** How old a session may be that stands for a password. */
const REAUTH_MS = 10 * MINUTE;

/**
 * Makes sure that a signed-in caller knows the account's password. An account without a password must
 * have signed in within ten minutes. Must run before a transaction: wrong tries are counted in one of their own.
 */
export async function confirmPassword(
  call: Pick<Call, "services" | "asSystem" | "readAsSystem" | "who" | "clock">,
  account: Pick<SignInUser, "id" | "passwordHash">,
  given: string | undefined,
): Promise<void> {
  if (account.passwordHash === null) return refuseStale(call);
  if (given === undefined) throw problem("INVALID_PASSWORD");
  await underLimits(call.services, [[confirmPerUser, account.id]], async () => {
    if (!(await checkPassword(given, account.passwordHash))) throw problem("INVALID_PASSWORD");
  });
}

/**
 * Who has no password signed in just now instead: a session that was left open, or copied, must not change the second
 * factor (docs/sign-in.md, "Confirming the password").
 */
async function refuseStale(call: Pick<Call, "readAsSystem" | "who" | "clock">): Promise<void> {
  const session = await call.readAsSystem("sign-in", (db) =>
    db.selectFrom("sessions").select("createdAt").where("id", "=", user(call).sessionId).executeTakeFirst(),
  );
  if (!session || session.createdAt < after(call.clock.now(), -REAUTH_MS)) throw problem("reauth_required");
}
