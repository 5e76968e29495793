import { type Networks, networks } from "./ip-address.ts";

/** Which hops before this server are proxies of its operator: so many of them, or those in these networks. */
export interface ProxyTrust {
  readonly hops: number;
  /** Decides instead of `hops` where it is given. */
  readonly networks?: Networks;
  /** Lower-case name of a header in which the nearest proxy hands over the client's address. */
  readonly header?: string;
}

const HOPS_MAX = 20;

/** Reads `TRUST_PROXY_HEADERS` (false, true, a number of proxies, or their networks); undefined for anything else. */
export function readProxyTrust(text: string | undefined, header: string | undefined): ProxyTrust | undefined {
  if (header !== undefined && !/^[A-Za-z0-9-]+$/.test(header)) return undefined;
  const named = header === undefined ? {} : { header: header.toLowerCase() };
  const word = (text ?? "false").trim().toLowerCase();
  if (["false", "no", "0"].includes(word)) return { hops: 0 };
  if (["true", "yes"].includes(word)) return { hops: 1, ...named };
  if (/^\d+$/.test(word)) return Number(word) <= HOPS_MAX ? { hops: Number(word), ...named } : undefined;
  try {
    return { hops: 0, networks: networks(word.split(",").map((part) => part.trim())), ...named };
  } catch {
    return undefined;
  }
}

/**
 * Whether a client that reaches the server past its proxies says its own address: true where proxies are counted, or
 * where everybody is one (docs/platform.md, "Client address").
 */
export function clientMayChooseAddress({ hops, networks: proxies }: ProxyTrust): boolean {
  return hops > 0 || (proxies?.some(([, prefix]) => prefix === 0) ?? false);
}
