import type { Endpoint } from "#contract/core/endpoint";
import type { ssoLogins } from "#contract/resources/sign-in/sso-logins";
import { takeAttempt } from "#server/access/attempts";
import { orgsWithVerifiedDomain } from "#server/features/sign-in/sso-domains/orgs-with-verified-domain";
import { findActiveProvider } from "#server/features/sign-in/sso-providers/find-active-provider";
import type { Call } from "#server/http/call";
import { clientBlock } from "#server/platform/ip-address";
import { domainOf } from "./domain-of.ts";
import { buttonOf } from "./login-url.ts";
import { discoveryPerAddress } from "./rules.ts";

type DiscoverCall = typeof ssoLogins.discover extends Endpoint<infer T> ? Call<T> : never;

/**
 * Keys on the domain alone and reads no user: real and invented addresses cannot be told apart (cases C22). A domain that
 * two organizations have proven finds neither.
 */
export async function discoverSso(call: DiscoverCall) {
  await takeAttempt(call.services, discoveryPerAddress, clientBlock(call.ip));
  const { email } = call.body;
  const provider = await call.readAsSystem("sign-in", async (db) => {
    const [orgId, ...others] = await orgsWithVerifiedDomain(db, domainOf(email));
    return orgId === undefined || others.length > 0 ? undefined : findActiveProvider(db, { orgId });
  });
  return { sso: buttonOf(provider) };
}
