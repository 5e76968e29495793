import { liesIn, networks } from "#server/platform/ip-address";

/** Whether an address lies in one of these addresses or networks; an empty list is anywhere. */
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

/** Networks wider than these hold so many strangers that an allow-list with one restricts nothing. */
const WIDEST = { ipv4: 8, ipv6: 16 } as const;

/** Whether an allow-list keeps anybody out: one with an entry for about everywhere does not. */
export const restricts = (allowed: readonly string[]): boolean =>
  allowed.length > 0 && networks(allowed).every(([address, bits]) => bits >= WIDEST[address.kind()]);
