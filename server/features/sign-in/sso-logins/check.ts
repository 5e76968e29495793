import type { Endpoint } from "#contract/core/endpoint";
import type { ssoLogins } from "#contract/resources/sign-in/sso-logins";
import { findActiveProvider } from "#server/features/sign-in/sso-providers/find-active-provider";
import type { Call } from "#server/http/call";
import { loginUrlOf } from "./login-url.ts";

type CheckCall = typeof ssoLogins.check extends Endpoint<infer T> ? Call<T> : never;

/** The organization's oldest active provider; an organization that does not exist has none. */
export async function checkSso(call: CheckCall) {
  const provider = await call.readAsSystem("sign-in", (db) => findActiveProvider(db, { orgId: call.params.orgId }));
  if (!provider) return { ssoEnabled: false as const };
  const { id, name, type } = provider;
  return {
    ssoEnabled: true as const,
    provider: { id, name, type },
    enforceSSO: type === "oidc" && provider.enforceSso,
    loginUrl: loginUrlOf(provider),
  };
}
