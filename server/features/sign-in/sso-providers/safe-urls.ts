import { problem } from "#server/problem";
import type { Services } from "#server/services";
import { refuseUnsafe, type UnsafeEndpoint } from "./discovery.ts";

interface GivenUrls {
  authorizationUrl?: string | null | undefined;
  tokenUrl?: string | null | undefined;
  userInfoUrl?: string | null | undefined;
  jwksUrl?: string | null | undefined;
  ssoUrl?: string | null | undefined;
}

/** Addresses set by hand (400 `UNSAFE_URL`), judged before they are saved. */
export async function refuseUnsafeUrls(call: { services: Services }, given: GivenUrls): Promise<void> {
  const { authorizationUrl, tokenUrl, userInfoUrl, jwksUrl, ssoUrl } = given;
  const { outbound, config } = call.services;
  // A browser goes to a SAML provider, never this server, and a company's own may well be inside its network.
  const insecure = ssoUrl != null && !ssoUrl.startsWith("https://") && !config.ssoAllowPrivateNetwork;
  if (insecure) throw unsafe("ssoUrl", "the address must begin with https://");
  await refuseUnsafe({ authorizationUrl, tokenUrl, userInfoUrl, jwksUrl }, outbound).catch((error: UnsafeEndpoint) => {
    throw unsafe(error.endpoint, error.message, error);
  });
}

const unsafe = (field: string, reason: string, cause?: unknown) =>
  problem("UNSAFE_URL", { details: { field, reason }, cause });
