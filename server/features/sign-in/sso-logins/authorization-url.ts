import { createHash } from "node:crypto";
import type { ProviderRow } from "#server/features/sign-in/sso-providers/find-active-provider";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { beginLoginSession, type LinkTarget } from "./login-session.ts";
import { callbackUri, oidcClient } from "./oidc-client.ts";
import { setStateCookie } from "./state-cookie.ts";

interface Begin {
  provider: ProviderRow;
  redirectPath: string;
  link?: LinkTarget;
}

/** Begins a sign-in and answers where the browser must go; the cookie that binds the two is set with it. */
export async function beginAtProvider(call: Call, { provider, redirectPath, link }: Begin): Promise<string> {
  const redirectUri = callbackUri(call);
  const client = await oidcClient(call, provider);
  if (!client) throw problem("PROVIDER_INVALID");
  const { state, nonce, codeVerifier } = await call.asSystem("sign-in", (tx) =>
    beginLoginSession(call, tx, { provider, redirectPath, link }),
  );
  setStateCookie(call, state);
  const url = client.library.buildAuthorizationUrl(client.configuration, {
    redirect_uri: redirectUri,
    scope: provider.requestedScopes,
    state,
    nonce,
    code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  return url.href;
}
