import type { Endpoint } from "#contract/core/endpoint";
import type { ssoProviders } from "#contract/resources/sign-in/sso-providers";
import { trustedBase } from "#server/features/sign-in/core/trusted-base";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { keepAnnounced } from "./change.ts";
import { type DiscoveryFailed, discover } from "./discovery.ts";
import { exerciseProvider } from "./exercise.ts";
import type { ProviderRow } from "./find-active-provider.ts";
import { callbackUri } from "./oidc-client.ts";
import { writableProvider } from "./reach.ts";
import { missingForActive } from "./rules.ts";
import { ProviderUnusable, useOf } from "./use-of.ts";

type TestCall = typeof ssoProviders.test extends Endpoint<infer T> ? Call<T> : never;

/**
 * Asks the issuer and tries what a sign-in will use (docs/single-sign-on.md, "Testing a provider"). What the document
 * announces is kept where it works, so that sign-in uses what was tried. A refusal is recorded with its reason.
 */
export async function testProvider(call: TestCall) {
  const provider = await writableProvider(call, call.params.id, call.db);
  if (provider.type !== "oidc") throw await failed(call, "only an oidc provider can be tested");
  if (provider.issuer === null) throw await failed(call, "the provider has no issuer");
  const discovery = await discover(provider.issuer, call.services).catch(async (error: DiscoveryFailed) => {
    throw await failed(call, error.message, error);
  });
  const { announced, ...shown } = discovery;
  const tried = { ...provider, announced };
  const signIn = await trySignIn(call, tried).catch(async (error: unknown) => {
    throw error instanceof ProviderUnusable ? await failed(call, error.reason, error) : error;
  });
  return call.transaction(async (tx) => {
    await writableProvider(call, provider.id, tx);
    await keepAnnounced(call, provider, announced);
    call.audit.note({ details: { issuer: discovery.issuer, tokenAuthMethod: signIn.tokenAuthMethod } });
    return { success: true as const, discovery: shown, signIn };
  });
}

/** Until the provider is complete there is nothing to try but what it announces. */
async function trySignIn(call: TestCall, provider: ProviderRow) {
  const { tokenAuthMethod, idTokenAlgorithms } = useOf(provider.announced);
  const callbackUrl = trustedBase(call) === undefined ? null : callbackUri(call, provider);
  const missing = missingForActive(provider);
  if (missing.length === 0 && callbackUrl !== null) await exerciseProvider(call, provider);
  return { missing, tokenAuthMethod, idTokenAlgorithms, callbackUrl };
}

async function failed(call: TestCall, reason: string, cause?: unknown) {
  call.audit.note({ result: "failure", details: { reason } });
  await call.transaction(async () => undefined);
  return problem("OIDC_DISCOVERY_FAILED", { details: { reason }, beside: { success: false }, cause });
}
