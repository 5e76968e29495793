import { takeAttempt } from "#server/access/attempts";
import { checkPassword } from "#server/access/password";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import type { SignInUser } from "../sessions/queries.ts";
import { confirmPerUser } from "./rules.ts";

/**
 * Makes sure that a signed-in caller knows the account's password. An account without a password has
 * nothing to confirm. Must run before a transaction: wrong tries are counted in one of their own.
 */
export async function confirmPassword(
  call: Pick<Call, "services" | "asSystem">,
  account: Pick<SignInUser, "id" | "passwordHash">,
  given: string | undefined,
): Promise<void> {
  if (account.passwordHash === null) return;
  if (given === undefined) throw problem("INVALID_PASSWORD");
  await takeAttempt(call.services, confirmPerUser, account.id);
  if (!(await checkPassword(given, account.passwordHash))) throw problem("INVALID_PASSWORD");
  await call.services.limiter.giveBack(confirmPerUser, account.id);
}
