import { passwordProblem } from "#server/access/password";
import { problem } from "#server/problem";

/** Refuses a new password that breaks the rule (docs/sign-in.md, "Passwords"). */
export function refuseWeak(password: string, path: string): void {
  const weak = passwordProblem(password);
  if (weak) throw problem("WEAK_PASSWORD", { details: [{ path, message: `${path} ${weak}` }] });
}
