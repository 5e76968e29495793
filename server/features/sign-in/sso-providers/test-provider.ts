import type { Endpoint } from "#contract/core/endpoint";
import type { ssoProviders } from "#contract/resources/sign-in/sso-providers";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { type DiscoveryFailed, discover } from "./discovery.ts";
import { writableProvider } from "./reach.ts";

type TestCall = typeof ssoProviders.test extends Endpoint<infer T> ? Call<T> : never;

/** Asks the issuer as a sign-in would, and saves nothing. */
export async function testProvider(call: TestCall) {
  const provider = await writableProvider(call, call.params.id, call.db);
  if (provider.type !== "oidc") throw failed("only an oidc provider can be tested");
  if (provider.issuer === null) throw failed("the provider has no issuer");
  const discovery = await discover(provider.issuer, call.services).catch((error: DiscoveryFailed) => {
    throw failed(error.message, error);
  });
  call.audit.note({ details: { issuer: discovery.issuer } });
  return { success: true as const, discovery };
}

const failed = (reason: string, cause?: unknown) =>
  problem("OIDC_DISCOVERY_FAILED", { details: { reason }, beside: { success: false }, cause });
