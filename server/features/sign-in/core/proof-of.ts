import type { SignInUser } from "#server/features/people/core/find-user";
import { sha256 } from "#server/platform/vault";

/** Changes with the password and the factor, so that a temporary token ends with either. */
export const proofOf = (user: Pick<SignInUser, "passwordHash" | "mfaSecret">): string =>
  sha256(`${user.passwordHash} ${user.mfaSecret}`);
