import { tokenAuthMethods } from "#contract/resources/sign-in/sso-providers";
import type { Announced } from "#server/db/tables/sign-in";

/** Why no one can sign in through a provider as it stands (docs/single-sign-on.md, "What a provider announces"). */
export class ProviderUnusable extends Error {
  override name = "ProviderUnusable";
  readonly reason: string;

  constructor(reason: string, cause?: unknown) {
    super(reason, { cause });
    this.reason = reason;
  }
}

/** Public-key signatures only: anyone who holds a shared secret could sign with it, and `none` is no signature. */
const SIGNATURES: readonly string[] = [
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

/** How a sign-in uses a provider. */
export interface Use {
  tokenAuthMethod: (typeof tokenAuthMethods)[number];
  idTokenAlgorithms: string[];
  userInfoAlgorithms: string[];
}

/**
 * What is announced decides; where nothing is, the standard's default does (`client_secret_basic`) or the answer is taken
 * as it comes. Throws `ProviderUnusable` where nothing in common is left.
 */
export function useOf(announced: Announced | null): Use {
  const { tokenAuthMethods: methods = ["client_secret_basic"], pkceMethods } = announced ?? {};
  const tokenAuthMethod = tokenAuthMethods.find((method) => methods.includes(method));
  if (tokenAuthMethod === undefined) throw new ProviderUnusable("token_auth_method_unsupported");
  // Whoever announces no methods may ignore the challenge (RFC 6749 3.1); whoever lists others would refuse it.
  if (pkceMethods && !pkceMethods.includes("S256")) throw new ProviderUnusable("pkce_s256_unsupported");
  const idTokenAlgorithms = common(announced?.idTokenAlgorithms);
  if (idTokenAlgorithms.length === 0) throw new ProviderUnusable("id_token_algorithm_unsupported");
  return { tokenAuthMethod, idTokenAlgorithms, userInfoAlgorithms: common(announced?.userInfoAlgorithms) };
}

const common = (listed: readonly string[] | undefined): string[] =>
  SIGNATURES.filter((algorithm) => listed?.includes(algorithm) ?? true);
