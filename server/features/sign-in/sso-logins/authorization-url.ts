import { createHash } from "node:crypto";
import type { ProviderRow } from "#server/features/sign-in/sso-providers/find-active-provider";
import { callbackUri, oidcClient } from "#server/features/sign-in/sso-providers/oidc-client";
import { ProviderUnusable } from "#server/features/sign-in/sso-providers/use-of";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { beginLoginSession, type LinkTarget } from "./login-session.ts";
import { setStateCookie } from "./state-cookie.ts";

interface Begin {
  provider: ProviderRow;
  redirectPath: string;
  link?: LinkTarget;
  /** What the exchange must prove; an attached identity has none. */
  challenge?: string | undefined;
}

/** Begins a sign-in and answers where the browser must go; the cookie that binds the two is set with it. */
export async function beginAtProvider(call: Call, { provider, redirectPath, link, challenge }: Begin): Promise<string> {
  const redirectUri = callbackUri(call, provider);
  const client = await oidcClient(call, provider).catch((error: unknown) => refuseUnusable(call, provider, error));
  const { state, nonce, codeVerifier } = await call.asSystem("sign-in", (tx) =>
    beginLoginSession(call, tx, { provider, redirectPath, link, challenge }),
  );
  setStateCookie(call, state);
  const url = client.openid.buildAuthorizationUrl(client.configuration, {
    redirect_uri: redirectUri,
    scope: provider.requestedScopes,
    state,
    nonce,
    code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  return url.href;
}

/** Says why, to the caller and in the owner's chain: nobody comes back from a sign-in that could not begin. */
async function refuseUnusable(call: Call, provider: ProviderRow, error: unknown): Promise<never> {
  if (!(error instanceof ProviderUnusable)) throw error;
  const { id, name, orgId, partnerId } = provider;
  call.audit.note({
    action: "sso.callback.rejected",
    result: "denied",
    owner: orgId === null ? { partnerId } : { orgId },
    resource: { type: "sso_provider", id, name },
    details: { phase: "provider", reason: error.reason },
  });
  await call.transaction(async () => undefined);
  throw problem("PROVIDER_INVALID", { details: { reason: error.reason } });
}
