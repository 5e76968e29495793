import type { Tx } from "#server/db/unit-of-work";
import { markAddressProven } from "#server/features/people/core/activate-account";
import type { SignInUser } from "#server/features/people/core/find-user";
import { revokeSessions } from "#server/features/sign-in/core/revoke-sessions";
import { clearFactor } from "#server/features/sign-in/mfa/disable";
import { unlinkPerson } from "#server/features/sign-in/sso-providers/keep-identity";

/**
 * The person answered a mail. The first time, whatever others set up for the address before is not theirs: factor,
 * identities and sessions go (docs/people.md, "Proven addresses"). The password is the caller's to replace.
 */
export async function proveAddress(
  tx: Tx,
  user: Pick<SignInUser, "id" | "emailVerifiedAt">,
  now: string,
): Promise<void> {
  if (user.emailVerifiedAt !== null) return;
  await clearFactor(tx, user.id, now);
  await unlinkPerson(tx, user.id);
  await revokeSessions(tx, { userId: user.id }, "address proven", now);
  await markAddressProven(tx, user.id, now);
}
