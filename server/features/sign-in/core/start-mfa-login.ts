import type { Tx } from "#server/db/unit-of-work";
import type { SignInUser } from "#server/features/people/core/find-user";
import type { Call } from "#server/http/call";
import { proofOf } from "./proof-of.ts";
import { issueUserToken } from "./user-tokens.ts";

const TEMP_TOKEN_SECONDS = 300;

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
