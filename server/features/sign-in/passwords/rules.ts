import { passwordProblem } from "#server/access/password";
import type { Limit } from "#server/access/rate-limit";
import { problem } from "#server/problem";

/** Every request counts; over the limit nothing is sent and the answer stays the same (docs/sign-in.md, "Guessing"). */
export const forgotPerAddress: Limit = { name: "forgot-password", max: 3, windowSeconds: 3_600 };

/**
 * Wrong current passwords of a signed-in user: without a limit a stolen access token could be used to guess the
 * password (docs/sign-in.md, "Guessing").
 */
export const confirmPerUser: Limit = { name: "confirm-password", max: 5, windowSeconds: 300 };

/** Refuses a new password that breaks the rule (docs/sign-in.md, "Passwords"). */
export function refuseWeak(password: string, path: string): void {
  const weak = passwordProblem(password);
  if (weak) throw problem("WEAK_PASSWORD", { details: [{ path, message: `${path} ${weak}` }] });
}
