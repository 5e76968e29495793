import type { Tx } from "#server/db/unit-of-work";
import { issueUserToken } from "#server/features/people/users/user-tokens";
import type { SignInUser } from "#server/features/sign-in/sessions/queries";
import { TEMP_TOKEN_SECONDS } from "#server/features/sign-in/sessions/rules";
import type { Call } from "#server/http/call";
import { sha256 } from "#server/platform/vault";

/** The password was right: hands out the temporary token that waits for the second factor. */
export async function startMfaLogin(call: Pick<Call, "clock" | "random">, tx: Tx, user: SignInUser) {
  const tempToken = await issueUserToken(tx, call, {
    userId: user.id,
    kind: "mfa_login",
    data: { proof: proofOf(user) },
  });
  return {
    mfaRequired: true as const,
    tempToken,
    mfaMethods: ["totp" as const, "recovery" as const],
    expiresIn: TEMP_TOKEN_SECONDS,
  };
}

/** Changes with the password and the factor, so that a temporary token ends with either. */
export const proofOf = (user: Pick<SignInUser, "passwordHash" | "mfaSecret">): string =>
  sha256(`${user.passwordHash} ${user.mfaSecret}`);
