import type { LookupFunction } from "node:net";
import { isIP } from "node:net";
import type { Agent, Dispatcher } from "undici";
import { type HttpProxy, type ProxyVariables, proxyFor } from "#contract/core/proxy";
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
  /** `SSO_ALLOW_PRIVATE_NETWORK`: http and addresses that are not public as well. */
  readonly allowPrivate: boolean;
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

export interface GuardedInit {
  readonly method?: string | undefined;
  readonly headers?: HeadersInit | undefined;
  readonly body?: string | URLSearchParams | Uint8Array | null | undefined;
  /** `manual` hands a redirect back. Otherwise a GET follows it, on the same origin alone. */
  readonly redirect?: "follow" | "manual" | undefined;
  readonly signal?: AbortSignal | null | undefined;
}

/** The one way to requests whose address a tenant chose. */
export interface GuardedFetch {
  /** Rejects with `OutboundRefused`. The body is read before it resolves. */
  fetch(url: string | URL, init?: GuardedInit): Promise<Response>;
  /** Checks an address without asking it anything: scheme, and every address its name has now. */
  assertSafe(url: string | URL): Promise<void>;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;
const MAX_REDIRECTS = 3;

/**
 * A fetch that cannot be led into the server's own network (cases C21). Names are resolved here; one address that is not
 * public refuses the host. The connection is made to the addresses that were checked, never to a second resolution, and
 * is not kept for the next request; a proxy is asked for a tunnel to such an address, never to a name. Redirects stay on
 * their origin, compression is not asked for.
 */
export function guardedFetch(options: GuardOptions): GuardedFetch {
  const { names, allowPrivate, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = options;
  const isAllowed = (address: string) => allowPrivate || (options.isPublic ?? isPublicAddress)(address);
  let agent: Promise<Agent> | undefined;

  async function checkedAddresses(host: string): Promise<string[]> {
    const asked = names.addresses(host).catch((cause) => {
      throw new OutboundRefused("unresolvable", cause);
    });
    const addresses = await Promise.race([asked, refusedAfter(timeoutMs)]);
    if (addresses.length === 0) throw new OutboundRefused("unresolvable");
    if (!addresses.every(isAllowed)) throw new OutboundRefused("private_address");
    return addresses;
  }

  /** Node never looks up a literal, so those are judged here; names are judged as they are connected to. */
  function checkedUrl(url: string | URL): { url: URL; name: string | undefined } {
    if (!URL.canParse(url)) throw new OutboundRefused("not_https");
    const parsed = new URL(url);
    if (parsed.protocol !== "https:" && !(allowPrivate && parsed.protocol === "http:"))
      throw new OutboundRefused("not_https");
    if (parsed.username || parsed.password) throw new OutboundRefused("credentials_in_url");
    const host = parsed.hostname.replace(/^\[|\]$/g, "");
    if (isIP(host) === 0) return { url: parsed, name: host };
    if (!isAllowed(host)) throw new OutboundRefused("private_address");
    return { url: parsed, name: undefined };
  }

  async function openAgent(): Promise<Agent> {
    const { Agent } = await import("undici");
    const connect = { lookup: pinningLookup(checkedAddresses), timeout: timeoutMs };
    // Pipelining 0 closes each connection after its answer: the next request is checked again.
    return new Agent({ pipelining: 0, connect: options.ca === undefined ? connect : { ...connect, ca: options.ca } });
  }

  async function exchange(url: URL, init: GuardedInit, signal: AbortSignal): Promise<Response> {
    const proxy = proxyFor(url, options.proxies ?? {});
    if (proxy !== undefined) return throughProxy(proxy, url, init, signal);
    agent ??= openAgent();
    return ask(await agent, checkedUrl(url).url, init, signal);
  }

  async function throughProxy(proxy: HttpProxy, url: URL, init: GuardedInit, signal: AbortSignal): Promise<Response> {
    const { name } = checkedUrl(url);
    const literal = url.hostname.replace(/^\[|\]$/g, "");
    const [address = literal] = name === undefined ? [] : await checkedAddresses(name);
    const target = new URL(url);
    target.hostname = isIP(address) === 6 ? `[${address}]` : address;
    const { openTunnel } = await import("./tunnel.ts");
    const tunnel = openTunnel(proxy, { name, ca: options.ca });
    try {
      const asked = ask(tunnel, target, { ...init, headers: withHost(init.headers, url.host) }, signal);
      // A request that waits for its tunnel does not look at its signal.
      return await Promise.race([asked, refusedAfter(timeoutMs)]);
    } catch (error) {
      if (error instanceof OutboundRefused || signal.aborted) throw error;
      throw new OutboundRefused("proxy", new Error(`${proxy.address}: ${(error as Error).message}`));
    } finally {
      void tunnel.destroy().catch(() => undefined);
    }
  }

  async function ask(dispatcher: Dispatcher, url: URL, init: GuardedInit, signal: AbortSignal): Promise<Response> {
    const { request } = await import("undici");
    const headers = new Headers(init.headers);
    headers.set("accept-encoding", "identity");
    const answer = await request(url, {
      dispatcher,
      method: (init.method ?? "GET") as "GET",
      headers: Object.fromEntries(headers),
      body: init.body instanceof URLSearchParams ? init.body.toString() : (init.body ?? null),
      signal,
    });
    const body = await readWithin(answer.body, maxBytes);
    const empty = [204, 205, 304].includes(answer.statusCode);
    return new Response(empty ? null : body, { status: answer.statusCode, headers: headersOf(answer.headers) });
  }

  return {
    async fetch(first, init = {}) {
      const limit = AbortSignal.timeout(timeoutMs);
      const signal = init.signal ? AbortSignal.any([limit, init.signal]) : limit;
      const mayFollow = (init.method ?? "GET") === "GET" && init.redirect !== "manual";
      try {
        let { url } = checkedUrl(first);
        for (let followed = 0; ; followed += 1) {
          const response = await exchange(url, init, signal);
          if (!isRedirect(response.status) || !mayFollow) return response;
          url = nextUrl(url, response, followed);
        }
      } catch (error) {
        throw refusalOf(error);
      }
    },
    async assertSafe(url) {
      const { name } = checkedUrl(url);
      if (name !== undefined) await checkedAddresses(name);
    },
  };
}

/** The machine's own look-up cannot be cancelled and may take minutes where a tenant's name server stays silent. */
const refusedAfter = (ms: number): Promise<never> =>
  new Promise((_, reject) => void setTimeout(() => reject(new OutboundRefused("timeout")), ms).unref());

/** Gives the connection exactly the addresses that were checked. */
function pinningLookup(checkedAddresses: (host: string) => Promise<string[]>): LookupFunction {
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

function withHost(given: HeadersInit | undefined, host: string): Headers {
  const headers = new Headers(given);
  headers.set("host", host);
  return headers;
}

const isRedirect = (status: number) => [301, 302, 303, 307, 308].includes(status);

function nextUrl(url: URL, response: Response, followed: number): URL {
  const location = response.headers.get("location");
  if (location === null || followed >= MAX_REDIRECTS || !URL.canParse(location, url))
    throw new OutboundRefused("redirect");
  const next = new URL(location, url);
  if (next.origin !== url.origin) throw new OutboundRefused("redirect");
  return next;
}

/** Stops reading, and with it the connection, as soon as there is more than is taken. */
async function readWithin(stream: AsyncIterable<Buffer>, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > maxBytes) throw new OutboundRefused("too_large");
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

function headersOf(headers: Record<string, string | string[] | undefined>): Headers {
  const out = new Headers();
  for (const [name, value] of Object.entries(headers))
    for (const one of value === undefined ? [] : [value].flat()) out.append(name, one);
  return out;
}

function refusalOf(error: unknown): OutboundRefused {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof OutboundRefused) return cause;
  const name = error instanceof Error ? error.name : "";
  const isLate = ["TimeoutError", "AbortError", "ConnectTimeoutError", "HeadersTimeoutError", "BodyTimeoutError"];
  return new OutboundRefused(isLate.includes(name) ? "timeout" : "unreachable", error);
}
