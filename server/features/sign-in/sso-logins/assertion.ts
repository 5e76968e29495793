import type { ProviderRow } from "#server/features/sign-in/sso-providers/find-active-provider";
import { callbackUri, oidcClient } from "#server/features/sign-in/sso-providers/oidc-client";
import { reasonOf, statusOf } from "#server/features/sign-in/sso-providers/reason-of";
import { ProviderUnusable } from "#server/features/sign-in/sso-providers/use-of";
import type { Call } from "#server/http/call";
import { after, SECOND } from "#server/platform/clock";
import type { LoginSession } from "./login-session.ts";
import { type Claims, type Profile, readProfile } from "./profile.ts";
import { rejection } from "./rejection.ts";

/** What the provider asserts, after every check has passed. */
export interface Assertion {
  subject: string;
  profile: Profile;
  /** All claims, as they came. */
  claims: Claims;
  /** The provider did MFA and this server trusts it to. */
  mfa: boolean;
  accessToken: string;
  refreshToken: string | null;
  tokenExpiresAt: string | null;
}

interface Returned {
  code: string;
  state: string;
  iss: string | undefined;
}

/**
 * Trades the code and asks who it is. The library checks the state, the issuer of the answer, PKCE by sending the
 * verifier, the ID token's signature, issuer, audience, times and nonce, and that UserInfo speaks of the same subject.
 */
export async function obtainAssertion(
  call: Call,
  provider: ProviderRow,
  session: LoginSession,
  returned: Returned,
): Promise<Assertion> {
  const { openid, configuration } = await oidcClient(call, provider).catch((error: unknown) => {
    throw error instanceof ProviderUnusable ? rejection("sso_error", "provider", error.reason, error) : error;
  });
  const isOpenId = provider.requestedScopes.split(/\s+/).includes("openid");
  const tokens = await openid
    .authorizationCodeGrant(configuration, returnedUrl(call, provider, returned), {
      pkceCodeVerifier: session.codeVerifier,
      expectedState: returned.state,
      ...(isOpenId ? { expectedNonce: session.nonce, idTokenExpected: true } : {}),
    })
    .catch((cause) => {
      throw rejection("sso_error", "token", reasonOf(cause), cause);
    });
  const idToken: Claims = tokens.claims() ?? {};
  const expected = typeof idToken["sub"] === "string" ? idToken["sub"] : openid.skipSubjectCheck;
  const userInfo: Claims =
    provider.userInfoUrl === null
      ? {}
      : await openid.fetchUserInfo(configuration, tokens.access_token, expected).catch((cause) => {
          const status = statusOf(cause);
          const answered = status !== undefined && status >= 400 ? `userinfo.answered_${status}` : reasonOf(cause);
          throw rejection("sso_error", "profile", answered, cause);
        });
  const subject = idToken["sub"] ?? userInfo["sub"];
  if (!isSubject(subject)) throw rejection("sso_error", "profile", "subject_missing");
  const profile = readProfile(idToken, userInfo, provider.attributeMapping);
  if (typeof profile === "string") throw rejection("sso_error", "profile", profile);
  const methods = idToken["amr"];
  return {
    subject,
    profile,
    claims: { ...idToken, ...userInfo },
    mfa: provider.trustsIdpMfa && Array.isArray(methods) && methods.includes("mfa"),
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token ?? null,
    tokenExpiresAt: tokens.expires_in === undefined ? null : after(call.clock.now(), tokens.expires_in * SECOND),
  };
}

/** OpenID Connect allows 255 characters. */
const isSubject = (value: unknown): value is string =>
  typeof value === "string" &&
  value.length > 0 &&
  value.length <= 255 &&
  value.isWellFormed() &&
  !value.includes("\u0000");

/** The address the browser came back to, of what counts in it alone. */
function returnedUrl(call: Call, provider: ProviderRow, { code, state, iss }: Returned): URL {
  const url = new URL(callbackUri(call, provider));
  url.search = new URLSearchParams({ code, state, ...(iss === undefined ? {} : { iss }) }).toString();
  return url;
}
