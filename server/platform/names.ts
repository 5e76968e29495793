import { lookup, Resolver } from "node:dns/promises";

/** Asks the domain name system; the operator's `DNS_RESOLVER` in place of the machine's when it is set. */
export interface Names {
  /** Every IPv4 and IPv6 address of a host, at least one; rejects when it has none. */
  addresses(host: string): Promise<string[]>;
  /** The texts of a name, each joined from its parts; none when the name or the record does not exist. */
  texts(name: string): Promise<string[]>;
}

const OPTIONS = { timeout: 3_000, tries: 2 };
const ABSENT = ["ENOTFOUND", "ENODATA"];

export function names(server: string | undefined): Names {
  const resolver = new Resolver(OPTIONS);
  if (server !== undefined) resolver.setServers([server]);
  return {
    async addresses(host) {
      // The machine's own way knows its hosts file as well, which is how private names are often given.
      if (server === undefined) return (await lookup(host, { all: true, verbatim: true })).map((one) => one.address);
      const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
      const addresses = found.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
      const [failed] = found.filter((answer) => answer.status === "rejected");
      if (addresses.length === 0) throw failed?.reason ?? new Error("the name has no address");
      return addresses;
    },
    async texts(name) {
      try {
        return (await resolver.resolveTxt(name)).map((parts) => parts.join(""));
      } catch (error) {
        if (ABSENT.includes((error as NodeJS.ErrnoException).code ?? "")) return [];
        throw error;
      }
    },
  };
}
