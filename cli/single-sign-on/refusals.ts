import { CliError } from "../errors/cli-error.ts";

const ask = "Ask an administrator";
const again = "Start again";

/** Why a sign-in was refused, by the server's code, and what to do about it. */
export const refusals: Readonly<Record<string, readonly [reason: string, remedy: string]>> = {
  sso_error: [
    "The identity provider refused, or its answer could not be verified",
    "Try again; then ask an administrator",
  ],
  invalid_callback: ["The browser came back without its cookie", "Use one browser, with cookies, for all of it"],
  session_expired: ["The sign-in took longer than ten minutes, or was answered twice", again],
  provider_not_found: ["The identity provider was removed meanwhile", ask],
  sso_provider_inactive: ["The identity provider is switched off", ask],
  sso_config_changed: ["The identity provider was changed meanwhile", again],
  sso_email_unverified: ["The identity provider has not verified your email address", "Verify it there"],
  domain_not_allowed: ["Email addresses of your domain may not sign in here", ask],
  sso_domain_unverified: ["The organization has not proven that your email domain is its own", ask],
  invite_required: [
    "You need an invitation, or have one elsewhere that is still open",
    "Accept it, or ask an administrator for one",
  ],
  user_not_found: ["You have no account here, or it is disabled", ask],
  default_role_required: ["An account can be made for you only when new people have a role", ask],
  invalid_provider_configuration: ["The identity provider is not set up completely", ask],
  no_org_access: ["Your account does not belong to this organization", "Sign in to yours"],
  no_partner_access: ["Your account does not belong to this partner", "Sign in to yours"],
  invalid_role_scope: ["The role of new people does not fit this organization or partner", ask],
};

/** Exit 4: not signed in. An unknown code is printed as it is. */
export function refusedSignIn(code: string): CliError {
  const known = Object.hasOwn(refusals, code) ? refusals[code] : undefined;
  const [reason, hint] = known ?? [`The server refused it (${code})`, undefined];
  return new CliError(`Not signed in. ${reason}`, {
    exit: "unauthenticated",
    code: "SSO_REFUSED",
    details: { error: code },
    hint,
  });
}

export const nobodyCame = (timeoutMs: number): CliError =>
  new CliError(`No one signed in within ${spelled(timeoutMs)}`, {
    exit: "unauthenticated",
    code: "SSO_TIMEOUT",
    hint: "If the browser ended at /login?error=…, that is the reason. The browser must run on this machine, or its port must be forwarded here. --timeout waits longer",
  });

const spelled = (ms: number): string => (ms % 60_000 === 0 ? `${ms / 60_000} min` : `${Math.round(ms / 1_000)} s`);

/** Exit 2: there is no user at a browser. */
export const needsPerson = (): CliError =>
  new CliError("Signing in with --sso needs a person at a browser, and none is present (CI or --no-input)", {
    exit: "usage",
    code: "NEEDS_A_PERSON",
    hint: "Unattended: RMM_API_KEY with an API key (svc_…) or a partner key (svc_sp_…), or RMM_TOKEN or RMM_TOKEN_FILE with a user's token",
  });
