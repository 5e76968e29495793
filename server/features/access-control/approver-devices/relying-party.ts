import type { Config } from "#server/config";
import { problem } from "#server/problem";

/** For whom devices sign: the host and the origin of the server's public address, where its page is. */
export interface RelyingParty {
  readonly id: string;
  readonly origin: string;
  readonly pageUrl: string;
}

const isAddress = (host: string) => /^[\d.]+$/.test(host) || host.startsWith("[");

/**
 * Undefined where browsers would not sign: without a public address, of one that is not encrypted (but for
 * `localhost`), and of a bare IP address.
 */
export function findRelyingParty({ publicUrl }: Pick<Config, "publicUrl">): RelyingParty | undefined {
  if (publicUrl === undefined) return undefined;
  const { protocol, hostname, origin } = new URL(publicUrl);
  const isLocal = hostname === "localhost" || hostname.endsWith(".localhost");
  if (isAddress(hostname) || (protocol !== "https:" && !isLocal)) return undefined;
  return { id: hostname, origin, pageUrl: `${publicUrl}/api/v1/authenticator/page` };
}

/** 503 `NOT_CONFIGURED` where there is none. */
export function relyingParty(config: Pick<Config, "publicUrl">): RelyingParty {
  const party = findRelyingParty(config);
  if (!party) throw problem("NOT_CONFIGURED", { details: { setting: "PUBLIC_URL" } });
  return party;
}
