import type { LookupFunction } from "node:net";
import { isIP } from "node:net";
import type { ProxyVariables } from "#contract/core/proxy";
import type { Names } from "./names.ts";
import { isPublicAddress } from "./public-address.ts";

/** Why a request to an address that a tenant chose was not made, or its answer not taken. */
export type RefusalReason =
  | "not_https"
  | "credentials_in_url"
  | "private_address"
  | "unresolvable"
  | "redirect"
  | "too_large"
  | "timeout"
  | "unreachable"
  | "proxy";

const publicMessage: Record<RefusalReason, string> = {
  not_https: "the address must begin with https://",
  credentials_in_url: "the address must not contain a user or password",
  private_address: "the address is not on the public internet",
  unresolvable: "the name of the host cannot be resolved",
  redirect: "the host redirects elsewhere",
  too_large: "the answer is too large",
  timeout: "the host did not answer in time",
  unreachable: "the host cannot be reached",
  proxy: "the proxy of this server does not let the request through",
};

/** Its message can be shown to the tenant: it says nothing that only the server's network knows. */
export class OutboundRefused extends Error {
  override name = "OutboundRefused";
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, cause?: unknown) {
    super(publicMessage[reason], { cause });
    this.reason = reason;
  }
}

export interface GuardOptions {
  readonly names: Names;
  /** http as well, and addresses that are not public: any of them, or those that `isPrivate` names. */
  readonly allowPrivate: boolean;
  readonly isPrivate?: (address: string) => boolean;
  /** Whole exchange, redirects included; default 10 s. */
  readonly timeoutMs?: number;
  /** Of an answer's body; default 1 MiB. */
  readonly maxBytes?: number;
  /** Certificates trusted in place of the machine's; tests only (operators have `NODE_EXTRA_CA_CERTS`). */
  readonly ca?: string;
  /** `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`; without them every request goes straight. */
  readonly proxies?: ProxyVariables;
  /** What counts as public; tests only. */
  readonly isPublic?: (address: string) => boolean;
}

export const TIMEOUT_MS = 10_000;

/** What a request may be made to: the checks that every way out to an address of a tenant shares. */
export interface AddressWall {
  isAllowed(address: string): boolean;
  /** Node never looks up a literal, so those are judged here; names are judged as they are connected to. */
  checkedUrl(url: string | URL): { url: URL; name: string | undefined };
  /** Every address that a name has now; refused when one of them is not allowed. */
  checkedAddresses(host: string): Promise<string[]>;
}

export function addressWall(options: GuardOptions): AddressWall {
  const { names, allowPrivate, timeoutMs = TIMEOUT_MS } = options;
  const isPublic = options.isPublic ?? isPublicAddress;
  const isAllowed = (address: string) =>
    isPublic(address) || (allowPrivate && (options.isPrivate ?? anyAddress)(address));
  /** Attempts that ask for one name at the same time share the question. */
  const asking = new Map<string, Promise<string[]>>();

  function addressesOf(host: string): Promise<string[]> {
    const running = asking.get(host);
    if (running) return running;
    const asked = names.addresses(host).finally(() => asking.delete(host));
    asking.set(host, asked);
    return asked;
  }

  return {
    isAllowed,
    checkedUrl(url) {
      if (!URL.canParse(url)) throw new OutboundRefused("not_https");
      const parsed = new URL(url);
      if (parsed.protocol !== "https:" && !(allowPrivate && parsed.protocol === "http:"))
        throw new OutboundRefused("not_https");
      if (parsed.username || parsed.password) throw new OutboundRefused("credentials_in_url");
      const host = literalOf(parsed);
      if (isIP(host) === 0) return { url: parsed, name: host };
      if (!isAllowed(host)) throw new OutboundRefused("private_address");
      return { url: parsed, name: undefined };
    },
    async checkedAddresses(host) {
      const asked = addressesOf(host).catch((cause) => {
        throw new OutboundRefused("unresolvable", cause);
      });
      const addresses = await Promise.race([asked, refusedAfter(timeoutMs)]);
      if (addresses.length === 0) throw new OutboundRefused("unresolvable");
      if (!addresses.every(isAllowed)) throw new OutboundRefused("private_address");
      return addresses;
    },
  };
}

const anyAddress = () => true;

/** Host of a URL without the brackets of IPv6. */
export const literalOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "");

/** A question may take longer where a tenant's name server stays silent. */
export const refusedAfter = (ms: number): Promise<never> =>
  new Promise((_, reject) => void setTimeout(() => reject(new OutboundRefused("timeout")), ms).unref());

/** Gives a connection exactly the addresses that were checked. */
export function pinningLookup(checkedAddresses: (host: string) => Promise<string[]>): LookupFunction {
  return (host, { all }, callback) => {
    checkedAddresses(host).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        const [one] = found;
        if (all) callback(null, found);
        else callback(null, one?.address as string, one?.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

/** The refusal behind any error of a request. */
export function refusalOf(error: unknown): OutboundRefused {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof OutboundRefused) return cause;
  const name = error instanceof Error ? error.name : "";
  const isLate = ["TimeoutError", "AbortError", "ConnectTimeoutError", "HeadersTimeoutError", "BodyTimeoutError"];
  return new OutboundRefused(isLate.includes(name) ? "timeout" : "unreachable", error);
}
