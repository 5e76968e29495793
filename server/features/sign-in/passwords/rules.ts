import { passwordProblem } from "#server/access/password";
import type { Limit } from "#server/access/rate-limit";
import { problem } from "#server/problem";

/** Every request counts; over the limit nothing is sent and the answer stays the same (contract 1 B). */
export const forgotPerAddress: Limit = { name: "forgot-password", max: 3, windowSeconds: 3_600 };

/**
 * Wrong current passwords of a signed-in user. Chosen: the contract is silent, and without a limit a
 * stolen access token could be used to guess the password.
 */
export const confirmPerUser: Limit = { name: "confirm-password", max: 5, windowSeconds: 300 };

/** Refuses a new password that breaks the rule (contract 1 B). */
export function refuseWeak(password: string, path: string): void {
  const weak = passwordProblem(password);
  if (weak) throw problem("WEAK_PASSWORD", { details: [{ path, message: `${path} ${weak}` }] });
}
