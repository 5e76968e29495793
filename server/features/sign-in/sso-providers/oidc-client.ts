import type * as OpenId from "openid-client";
import { trustedBase } from "#server/features/sign-in/core/trusted-base";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { openClientSecret } from "./client-secret.ts";
import { assertSafeEndpoints, type UnsafeEndpoint } from "./discovery.ts";
import type { ProviderRow } from "./find-active-provider.ts";
import { missingForActive } from "./rules.ts";
import { ProviderUnusable, useOf } from "./use-of.ts";

/** A client of the provider that reaches nothing but what the guarded fetch lets it. */
export interface OidcClient {
  readonly openid: typeof OpenId;
  readonly configuration: OpenId.Configuration;
}

type Caller = Pick<Call, "services" | "config" | "log">;

/**
 * A client for one sign-in, made from the provider as it is stored. Every address is checked again, whatever was found
 * when it was saved (cases C21). Throws `ProviderUnusable` when the provider cannot be signed in through.
 */
export async function oidcClient(call: Caller, provider: ProviderRow): Promise<OidcClient> {
  const { type, issuer, clientId, authorizationUrl, tokenUrl, userInfoUrl, jwksUrl } = provider;
  if (type !== "oidc") throw unusable(call, provider, "saml_unsupported");
  const secret = readableSecret(call, provider);
  if (issuer === null || clientId === null || authorizationUrl === null || tokenUrl === null || secret === null)
    throw unusable(call, provider, `incomplete.${missingForActive(provider)[0]}`);
  await assertSafeEndpoints(provider, call.services).catch((error: UnsafeEndpoint) => {
    throw unusable(call, provider, `unsafe_address.${error.endpoint}`, error);
  });
  const { tokenAuthMethod, idTokenAlgorithms, userInfoAlgorithms } = useOf(provider.announced);
  // Read when it is needed first: a server without single sign-on does not carry it.
  const openid = await import("openid-client");
  const metadata: OpenId.ServerMetadata = {
    issuer,
    authorization_endpoint: authorizationUrl,
    token_endpoint: tokenUrl,
    ...(userInfoUrl === null ? {} : { userinfo_endpoint: userInfoUrl }),
    ...(jwksUrl === null ? {} : { jwks_uri: jwksUrl }),
    id_token_signing_alg_values_supported: idTokenAlgorithms,
    userinfo_signing_alg_values_supported: userInfoAlgorithms,
    ...(provider.announced?.namesIssuer ? { authorization_response_iss_parameter_supported: true } : {}),
  };
  const present = tokenAuthMethod === "client_secret_basic" ? openid.ClientSecretBasic : openid.ClientSecretPost;
  const configuration = new openid.Configuration(metadata, clientId, secret, present(secret));
  configuration[openid.customFetch] = (url, { method, headers, body, signal }) => {
    // Of these three kinds of request only the token's has a body, and that is a form.
    const form = body instanceof URLSearchParams ? body : null;
    return call.services.outbound.fetch(url, { method, headers, body: form, signal, redirect: "manual" });
  };
  if (call.config.ssoAllowPrivateNetwork) openid.allowInsecureRequests(configuration);
  // The token comes over TLS, but its signature is checked as well: by the keys, not by the connection.
  openid.enableNonRepudiationChecks(configuration);
  return { openid, configuration };
}

/** Null = none is stored. One that was encrypted under another server's key must be entered again. */
function readableSecret(call: Caller, provider: ProviderRow): string | null {
  try {
    return openClientSecret(call.services.vault, provider);
  } catch (error) {
    throw unusable(call, provider, "client_secret_unreadable", error);
  }
}

function unusable({ log }: Caller, { id: providerId }: ProviderRow, reason: string, error?: unknown): ProviderUnusable {
  log.warn("sso.provider_unusable", { providerId, reason, ...(error instanceof Error && { error }) });
  return new ProviderUnusable(reason, error);
}

/**
 * Where the provider sends people back to: the common address, or its own. It must be registered there, so it may not
 * follow a `Host` header.
 */
export function callbackUri(
  call: Pick<Call, "config" | "serverUrl">,
  { id, ownCallback }: Pick<ProviderRow, "id" | "ownCallback">,
): string {
  const base = trustedBase(call);
  if (base === undefined) throw problem("NOT_CONFIGURED", { details: { setting: "PUBLIC_URL" } });
  return `${base}/api/v1/sso/callback${ownCallback ? `/${id}` : ""}`;
}
