import type { Call } from "#server/http/call";
import type { ProviderRow } from "./find-active-provider.ts";
import { callbackUri, type OidcClient, oidcClient } from "./oidc-client.ts";
import { reasonOf, statusOf } from "./reason-of.ts";
import { ProviderUnusable, useOf } from "./use-of.ts";

/**
 * Makes the requests of a sign-in that need no person, as a sign-in would: the keys, the client secret at the token
 * endpoint, the UserInfo endpoint. Throws `ProviderUnusable` with the reason of the first that cannot work.
 */
export async function exerciseProvider(call: Call, provider: ProviderRow): Promise<void> {
  const client = await oidcClient(call, provider);
  await tryKeys(call, provider);
  await trySecret(call, provider, client);
  await tryUserInfo(call, provider);
}

async function tryKeys(call: Call, { jwksUrl, announced }: ProviderRow): Promise<void> {
  if (jwksUrl === null) return;
  const answer = await ask(call, jwksUrl, "keys");
  const { keys } = (await answer.json().catch(() => ({}))) as { keys?: unknown };
  const { idTokenAlgorithms } = useOf(announced);
  const fits = (key: { alg?: unknown; use?: unknown; kty?: unknown } | null) =>
    typeof key?.kty === "string" &&
    key.use !== "enc" &&
    (key.alg === undefined || idTokenAlgorithms.includes(String(key.alg)));
  if (answer.status !== 200 || !Array.isArray(keys)) throw new ProviderUnusable("keys_unreadable");
  if (!keys.some(fits)) throw new ProviderUnusable("keys_unusable");
}

/**
 * Presents the secret with a code that no provider gave out: one that knows the client refuses the code (RFC 6749 5.2),
 * one that does not refuses the client.
 */
async function trySecret(call: Call, provider: ProviderRow, { openid, configuration }: OidcClient): Promise<void> {
  const [code, state, pkceCodeVerifier] = [0, 1, 2].map(() => call.random.bytes(32).toString("base64url"));
  const url = new URL(callbackUri(call, provider));
  url.search = new URLSearchParams({ code: `${code}`, state: `${state}`, iss: `${provider.issuer}` }).toString();
  const checks = { pkceCodeVerifier: `${pkceCodeVerifier}`, expectedState: `${state}` };
  const error = await openid.authorizationCodeGrant(configuration, url, checks).then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (error === undefined) return;
  const reason = reasonOf(error);
  if (statusOf(error) === 401) throw new ProviderUnusable("token.invalid_client", error);
  if (!answersOfProvider.has(reason)) throw new ProviderUnusable(`token.${reason}`, error);
}

/** What a token endpoint says of a code that it does not know, once it has taken the client for what it is. */
const answersOfProvider = new Set(["invalid_grant", "invalid_request", "access_denied"]);

async function tryUserInfo(call: Call, { userInfoUrl }: ProviderRow): Promise<void> {
  if (userInfoUrl === null) return;
  const { status } = await ask(call, userInfoUrl, "userinfo", { authorization: "Bearer none" });
  // It refuses the token, as it should; what is not there or broken would answer otherwise.
  if (status === 404 || status >= 500) throw new ProviderUnusable(`userinfo.answered_${status}`);
}

function ask({ services }: Call, url: string, what: string, headers: Record<string, string> = {}) {
  const asked = services.outbound.fetch(url, { method: "GET", headers, redirect: "manual" });
  return asked.catch((error: unknown) => {
    throw new ProviderUnusable(`${what}.${reasonOf(error)}`, error);
  });
}
