import type { LoginSession } from "./login-session.ts";
import { linkErrorOf, type RejectionCode } from "./rejection.ts";
import { CLI_PAGE } from "./rules.ts";

/** Where a refused sign-in ends: where it is waited for, else on the login page. */
export function refusedLocation(session: LoginSession | undefined, code: RejectionCode): string {
  if (session?.link) return `/settings/profile?ssoLinkError=${linkErrorOf(code)}`;
  if (session?.redirectPath.startsWith(`${CLI_PAGE}?`)) return `${session.redirectPath}#ssoError=${code}`;
  return `/login?error=${code}`;
}
