import type * as OpenId from "openid-client";
import { trustedBase } from "#server/features/sign-in/core/trusted-base";
import { openClientSecret } from "#server/features/sign-in/sso-providers/client-secret";
import { assertSafeEndpoints } from "#server/features/sign-in/sso-providers/discovery";
import type { ProviderRow } from "#server/features/sign-in/sso-providers/find-active-provider";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

/** A client of the provider that reaches nothing but what the guarded fetch lets it. */
export interface OidcClient {
  readonly library: typeof OpenId;
  readonly configuration: OpenId.Configuration;
}

/** Public-key signatures only: anyone who holds a shared secret could sign with it, and `none` is no signature. */
const SIGNATURES = [
  "RS256",
  "PS256",
  "ES256",
  "RS384",
  "PS384",
  "ES384",
  "RS512",
  "PS512",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/**
 * A client for one sign-in, made from the provider as it is stored. Every address is checked again, whatever was found
 * when it was saved (cases C21). Undefined = the provider cannot be signed in through.
 */
export async function oidcClient(
  call: Pick<Call, "services" | "config" | "log">,
  provider: ProviderRow,
): Promise<OidcClient | undefined> {
  const { issuer, clientId, authorizationUrl, tokenUrl, userInfoUrl, jwksUrl } = provider;
  const secret = readableSecret(call, provider);
  const isComplete = issuer !== null && clientId !== null && authorizationUrl !== null && tokenUrl !== null;
  if (provider.type !== "oidc" || !isComplete || secret === null) return undefined;
  try {
    await assertSafeEndpoints(provider, call.services);
  } catch (error) {
    call.log.warn("sso.unsafe_endpoint", { providerId: provider.id, error: error as Error });
    return undefined;
  }
  // Read when it is needed first: a server without single sign-on does not carry it.
  const library = await import("openid-client");
  const metadata: OpenId.ServerMetadata = {
    issuer,
    authorization_endpoint: authorizationUrl,
    token_endpoint: tokenUrl,
    ...(userInfoUrl === null ? {} : { userinfo_endpoint: userInfoUrl }),
    ...(jwksUrl === null ? {} : { jwks_uri: jwksUrl }),
    id_token_signing_alg_values_supported: SIGNATURES,
  };
  const configuration = new library.Configuration(metadata, clientId, secret);
  configuration[library.customFetch] = (url, { method, headers, body, signal }) => {
    // Of these three kinds of request only the token's has a body, and that is a form.
    const form = body instanceof URLSearchParams ? body : null;
    return call.services.outbound.fetch(url, { method, headers, body: form, signal, redirect: "manual" });
  };
  if (call.config.ssoAllowPrivateNetwork) library.allowInsecureRequests(configuration);
  // The token comes over TLS, but its signature is checked as well: by the keys, not by the connection.
  library.enableNonRepudiationChecks(configuration);
  return { library, configuration };
}

/** Null also for a secret that was encrypted under another server's key: its owner must enter it again. */
function readableSecret({ services, log }: Pick<Call, "services" | "log">, provider: ProviderRow): string | null {
  try {
    return openClientSecret(services.vault, provider);
  } catch (error) {
    log.warn("sso.client_secret_unreadable", { providerId: provider.id, error: error as Error });
    return null;
  }
}

/** Where the provider sends people back to; it must be registered there, so it may not follow a `Host` header. */
export function callbackUri(call: Pick<Call, "config" | "serverUrl">): string {
  const base = trustedBase(call);
  if (base === undefined) throw problem("NOT_CONFIGURED", { details: { setting: "PUBLIC_URL" } });
  return `${base}/api/v1/sso/callback`;
}
