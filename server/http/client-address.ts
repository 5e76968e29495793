import type { IncomingMessage } from "node:http";
import { canonicalAddress, liesIn } from "#server/platform/ip-address";
import type { ProxyTrust } from "#server/platform/proxy-trust";

type Request = Pick<IncomingMessage, "headers"> & { socket: { remoteAddress?: string | undefined } };

/**
 * The address of the client (docs/platform.md, "Client address"): the nearest one that is not a trusted proxy. Proxies
 * append to `X-Forwarded-For`, so it is read from the right; anything further left was written by the client. Null if
 * unknown.
 */
export function clientAddress(request: Request, trust: ProxyTrust): string | null {
  const peer = canonicalAddress(request.socket.remoteAddress) ?? null;
  if (!trusted(peer, 0, trust)) return peer;
  const named = trust.header === undefined ? undefined : only(request.headers[trust.header]);
  if (named !== undefined) return named;
  const forwarded = list(request.headers["x-forwarded-for"]);
  if (forwarded.length === 0) return only(request.headers["x-real-ip"]) ?? peer;
  let nearest = peer;
  for (const [index, text] of forwarded.toReversed().entries()) {
    const address = canonicalAddress(withoutPort(text));
    // An entry that a trusted proxy passed on unread is no address; the last certain address counts.
    if (address === undefined) return nearest;
    nearest = address;
    if (!trusted(address, index + 1, trust)) return address;
  }
  return nearest;
}

const trusted = (address: string | null, hop: number, trust: ProxyTrust): boolean =>
  trust.networks === undefined ? hop < trust.hops : liesIn(address, trust.networks);

const list = (header: string | string[] | undefined): string[] =>
  [header ?? []]
    .flat()
    .join(",")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** The address in a header that holds exactly one. */
function only(header: string | string[] | undefined): string | undefined {
  const [first, ...more] = list(header);
  return more.length > 0 ? undefined : canonicalAddress(first);
}

/** Some proxies write `192.0.2.1:443` and `[2001:db8::1]:443`. */
const withoutPort = (text: string): string =>
  /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text;
