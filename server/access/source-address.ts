import { liesIn, networks } from "#server/platform/ip-address";

/** Whether an address is in one of these addresses or networks, IPv4 or IPv6; an empty list allows every address. */
export const comesFrom = (ip: string | null, allowed: readonly string[]): boolean =>
  allowed.length === 0 || liesIn(ip, networks(allowed));

/** Whether this can be read as an address or a network. */
export function isSourceCidr(text: string): boolean {
  try {
    networks([text]);
    return true;
  } catch {
    return false;
  }
}

/**
 * Networks wider than these hold so many strangers that an allow-list with one restricts nothing
 * (docs/credentials.md, "Partner writes").
 */
const WIDEST = { ipv4: 8, ipv6: 16 } as const;

/** Whether an allow-list restricts at all: a list with an entry for nearly every address does not. */
export const restricts = (allowed: readonly string[]): boolean =>
  allowed.length > 0 && networks(allowed).every(([address, bits]) => bits >= WIDEST[address.kind()]);
