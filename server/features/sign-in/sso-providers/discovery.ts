import type { CustomFetch, ServerMetadata } from "openid-client";
import type { Config } from "#server/config";
import type { Announced } from "#server/db/tables/sign-in";
import { type GuardedFetch, OutboundRefused } from "#server/platform/guarded-fetch";
import type { Services } from "#server/services";

/** What a discovery document contains, every address checked. */
export interface Discovery {
  issuer: string;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  /** Some providers put everything into the ID token and have none. */
  userInfoEndpoint: string | null;
  jwksUri: string;
  announced: Announced;
}

/** Its message is shown to the person who configures the provider. */
export class DiscoveryFailed extends Error {
  override name = "DiscoveryFailed";
}

type Deps = Pick<Services, "outbound"> & { readonly config: Pick<Config, "ssoAllowPrivateNetwork"> };

/**
 * Reads `<issuer>/.well-known/openid-configuration` (docs/single-sign-on.md, "Discovery"). The document must name the
 * issuer that was asked, and no address in it may lead into this server's network. Rejects only with `DiscoveryFailed`.
 */
export async function discover(issuer: string, deps: Deps): Promise<Discovery> {
  const document = await readDocument(issuer, deps);
  // The library accepts the shared issuer of a provider for each of its tenants; a provider here must be one of them.
  if (!isSameUrl(document.issuer, issuer)) throw new DiscoveryFailed("the document names another issuer");
  const found: Discovery = {
    issuer: stated(document, "issuer"),
    authorizationEndpoint: stated(document, "authorization_endpoint"),
    tokenEndpoint: stated(document, "token_endpoint"),
    userInfoEndpoint: document.userinfo_endpoint == null ? null : stated(document, "userinfo_endpoint"),
    jwksUri: stated(document, "jwks_uri"),
    announced: announcedIn(document),
  };
  const { issuer: _, announced: __, ...endpoints } = found;
  await refuseUnsafe(endpoints, deps.outbound).catch((error: UnsafeEndpoint) => {
    throw new DiscoveryFailed(`${error.endpoint}: ${error.message}`, { cause: error });
  });
  return found;
}

async function readDocument(issuer: string, { outbound, config }: Deps): Promise<ServerMetadata> {
  // Read when it is needed first: a server without single sign-on does not carry it.
  const { allowInsecureRequests, customFetch, discovery } = await import("openid-client");
  // The library asks for redirects to be handed back; a provider may move its document on its own origin.
  const get: CustomFetch = (url, { method, headers, signal }) => outbound.fetch(url, { method, headers, signal });
  try {
    const options = { [customFetch]: get, execute: config.ssoAllowPrivateNetwork ? [allowInsecureRequests] : [] };
    return (await discovery(new URL(issuer), "discovery", undefined, undefined, options)).serverMetadata();
  } catch (error) {
    throw new DiscoveryFailed(reasonOf(error), { cause: error });
  }
}

function reasonOf(error: unknown): string {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof OutboundRefused) return cause.message;
    const { code } = cause as Error & { code?: string };
    if (code === "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED") return "the document names another issuer";
    if (code === "OAUTH_HTTP_REQUEST_FORBIDDEN") return "the address must begin with https://";
  }
  return "the answer is no OpenID Connect discovery document";
}

/** A string as short and plain as an address set by hand; anything else counts as absent. */
function stated(document: ServerMetadata, name: keyof ServerMetadata): string {
  const value: unknown = document[name];
  const isPlain = typeof value === "string" && value.length <= 2048 && /^[\x21-\x7e]+$/.test(value);
  if (!isPlain) throw new DiscoveryFailed(`the document names no ${name}`);
  return value;
}

/** Lists as the document has them; one that is no list of short names counts as absent. */
function announcedIn(document: ServerMetadata): Announced {
  const list = (name: string) => {
    const value: unknown = document[name];
    const isList =
      Array.isArray(value) && value.length <= 100 && value.every((one) => /^[\w.+-]{1,64}$/.test(`${one}`));
    return isList ? value.map((one) => `${one}`) : undefined;
  };
  const lists = {
    tokenAuthMethods: list("token_endpoint_auth_methods_supported"),
    idTokenAlgorithms: list("id_token_signing_alg_values_supported"),
    userInfoAlgorithms: list("userinfo_signing_alg_values_supported"),
    pkceMethods: list("code_challenge_methods_supported"),
    namesIssuer: document.authorization_response_iss_parameter_supported === true ? true : undefined,
  };
  return Object.fromEntries(Object.entries(lists).filter(([, value]) => value !== undefined));
}

const isSameUrl = (a: string, b: string) => URL.canParse(a) && new URL(a).href === new URL(b).href;

/** An address of a provider that this server must not be led to. */
export class UnsafeEndpoint extends Error {
  override name = "UnsafeEndpoint";
  readonly endpoint: string;

  constructor(endpoint: string, refusal: OutboundRefused) {
    super(refusal.message, { cause: refusal });
    this.endpoint = endpoint;
  }
}

/** Rejects with `UnsafeEndpoint`, naming the first that is not safe; those not set are passed over. */
export async function refuseUnsafe(
  endpoints: Readonly<Record<string, string | null | undefined>>,
  outbound: GuardedFetch,
): Promise<void> {
  for (const [endpoint, url] of Object.entries(endpoints)) {
    if (url === null || url === undefined) continue;
    await outbound.assertSafe(url).catch((error: OutboundRefused) => {
      throw new UnsafeEndpoint(endpoint, error);
    });
  }
}

/** Checks the stored addresses again at each sign-in: what a name resolves to may have changed. */
export async function assertSafeEndpoints(
  provider: {
    issuer: string | null;
    authorizationUrl: string | null;
    tokenUrl: string | null;
    userInfoUrl: string | null;
    jwksUrl: string | null;
  },
  { outbound }: Pick<Services, "outbound">,
): Promise<void> {
  const { issuer, authorizationUrl, tokenUrl, userInfoUrl, jwksUrl } = provider;
  await refuseUnsafe({ issuer, authorizationUrl, tokenUrl, userInfoUrl, jwksUrl }, outbound);
}
