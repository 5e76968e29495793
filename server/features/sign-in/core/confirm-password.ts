import { takeAttempt } from "#server/access/attempts";
import { candidatesOf, isOf, usable } from "#server/access/membership-candidates";
import { checkPassword } from "#server/access/password";
import type { Limit } from "#server/access/rate-limit";
import type { SignInUser } from "#server/features/people/core/find-user";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";

/**
 * Wrong current passwords of a signed-in user: without a limit a stolen access token could be used to guess the
 * password (docs/sign-in.md, "Guessing").
 */
const confirmPerUser: Limit = { name: "confirm-password", max: 5, windowSeconds: 300 };

/**
 * Makes sure that a signed-in caller knows the account's password. An account without a password has
 * nothing to confirm. Must run before a transaction: wrong tries are counted in one of their own.
 */
export async function confirmPassword(
  call: Pick<Call, "services" | "asSystem" | "readAsSystem" | "who">,
  account: Pick<SignInUser, "id" | "passwordHash" | "isPlatformAdmin">,
  given: string | undefined,
): Promise<void> {
  if (account.passwordHash === null) return refuseGuest(call, account);
  if (given === undefined) throw problem("INVALID_PASSWORD");
  await takeAttempt(call.services, confirmPerUser, account.id);
  if (!(await checkPassword(given, account.passwordHash))) throw problem("INVALID_PASSWORD");
  await call.services.limiter.giveBack(confirmPerUser, account.id);
}

/**
 * A second factor is the person's in every tenant, while an identity provider speaks for its own tenant alone. Without
 * a password to confirm, only a session of the tenant that counts first may change it
 * (docs/sign-in.md, "Confirming the password"). Otherwise an organization's administrator could set or remove the
 * second factor of a guest from another tenant.
 */
async function refuseGuest(
  call: Pick<Call, "readAsSystem" | "who">,
  account: Pick<SignInUser, "id" | "isPlatformAdmin">,
): Promise<void> {
  const who = user(call);
  if (who.scope === "system") return;
  const first = (await call.readAsSystem("sign-in", (db) => candidatesOf(db, account.id))).find(usable);
  const isOwn = first !== undefined && isOf(first.membership, who);
  if (account.isPlatformAdmin || !isOwn) throw problem("FORBIDDEN");
}
