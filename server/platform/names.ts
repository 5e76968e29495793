import { Resolver } from "node:dns/promises";
import { MINUTE } from "./clock.ts";
import { addressesInHosts } from "./hosts-file.ts";

/** Asks the domain name system; the operator's `DNS_RESOLVER` in place of the machine's when it is set. */
export interface Names {
  /** Every IPv4 and IPv6 address of a host, at least one; rejects when it has none. */
  addresses(host: string): Promise<string[]>;
  /** The texts of a name, each joined from its parts; none when the name or the record does not exist. */
  texts(name: string): Promise<string[]>;
}

const OPTIONS = { timeout: 3_000, tries: 2 };
const ABSENT = ["ENOTFOUND", "ENODATA"];

/**
 * Never by the machine's own look-up (`getaddrinfo`): it waits in the few threads that everybody shares, and cannot be
 * cancelled, so a tenant whose name servers stay silent would hold up all others. Questions over the network hold up
 * nobody, and end.
 */
export function names(server: string | undefined): Names {
  const resolver = server === undefined ? machinesResolver() : fixed(server);
  return {
    async addresses(host) {
      const known = server === undefined ? await addressesInHosts(host) : [];
      if (known.length > 0) return known;
      const asked = resolver();
      const found = await Promise.allSettled([asked.resolve4(host), asked.resolve6(host)]);
      const addresses = found.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
      const [failed] = found.filter((answer) => answer.status === "rejected");
      if (addresses.length === 0) throw failed?.reason ?? new Error("the name has no address");
      return addresses;
    },
    async texts(name) {
      try {
        return (await resolver().resolveTxt(name)).map((parts) => parts.join(""));
      } catch (error) {
        if (ABSENT.includes((error as NodeJS.ErrnoException).code ?? "")) return [];
        throw error;
      }
    },
  };
}

function fixed(server: string): () => Resolver {
  const resolver = new Resolver(OPTIONS);
  resolver.setServers([server]);
  return () => resolver;
}

/** Knows the machine's name servers from its beginning, and they may change: a new one each minute. */
function machinesResolver(): () => Resolver {
  let made: { resolver: Resolver; atMs: number } | undefined;
  return () => {
    const nowMs = performance.now();
    if (made === undefined || nowMs - made.atMs > MINUTE) made = { resolver: new Resolver(OPTIONS), atMs: nowMs };
    return made.resolver;
  };
}
