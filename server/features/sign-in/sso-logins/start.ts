import type { Endpoint } from "#contract/core/endpoint";
import type { ssoLogins } from "#contract/resources/sign-in/sso-logins";
import { takeAttempts } from "#server/access/attempts";
import { findActiveProvider, type ProviderOwner } from "#server/features/sign-in/sso-providers/find-active-provider";
import type { Call } from "#server/http/call";
import { clientBlock } from "#server/platform/ip-address";
import { problem } from "#server/problem";
import { beginAtProvider } from "./authorization-url.ts";
import { safeRedirect, startPerAddress, startPerAddressAndTarget } from "./rules.ts";

type StartCall = typeof ssoLogins.start extends Endpoint<infer T> ? Call<T> : never;
type StartPartnerCall = typeof ssoLogins.startForPartner extends Endpoint<infer T> ? Call<T> : never;

/** Sends the browser to the organization's identity provider. */
export const startLogin = (call: StartCall) => start(call, { orgId: call.params.orgId });

/** Sends the browser to the partner's identity provider. */
export const startPartnerLogin = (call: StartPartnerCall) => start(call, { partnerId: call.params.partnerId });

async function start(
  call: Call<{ query: { redirect?: string | undefined; challenge?: string | undefined } } & Rest>,
  owner: ProviderOwner,
) {
  const address = clientBlock(call.ip);
  const target = "orgId" in owner ? owner.orgId : owner.partnerId;
  await takeAttempts(call.services, [
    [startPerAddressAndTarget, `${address} ${target}`],
    [startPerAddress, address],
  ]);
  const provider = await call.readAsSystem("sign-in", (db) => findActiveProvider(db, owner));
  if (!provider) {
    const message = "No active SSO provider for this partner";
    throw problem("NO_ACTIVE_SSO_PROVIDER", "partnerId" in owner ? { message } : {});
  }
  const { redirect, challenge } = call.query;
  return { location: await beginAtProvider(call, { provider, redirectPath: safeRedirect(redirect), challenge }) };
}

type Rest = Record<"params" | "queryInput" | "body" | "bodyInput" | "result" | "item", unknown>;
