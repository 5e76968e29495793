import type { Agent, Dispatcher } from "undici";
import { proxyFor } from "#contract/core/proxy";
import {
  addressWall,
  type GuardOptions,
  OutboundRefused,
  pinningLookup,
  refusalOf,
  TIMEOUT_MS,
} from "./address-wall.ts";
import { throughProxy } from "./through-proxy.ts";

export { type GuardOptions, OutboundRefused } from "./address-wall.ts";

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

const MAX_BYTES = 1024 * 1024;
const MAX_REDIRECTS = 3;

/**
 * A fetch that cannot be led into the server's own network (cases C21). Names are resolved here; one address that is not
 * public refuses the host. The connection is made to the addresses that were checked, never to a second resolution, and
 * is not kept for the next request; a proxy is asked for a tunnel to such an address, never to a name. Redirects stay on
 * their origin, compression is not asked for.
 */
export function guardedFetch(options: GuardOptions): GuardedFetch {
  const { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = options;
  const wall = addressWall(options);
  const { checkedUrl, checkedAddresses } = wall;
  let agent: Promise<Agent> | undefined;

  async function openAgent(): Promise<Agent> {
    const { Agent } = await import("undici");
    const connect = { lookup: pinningLookup(checkedAddresses), timeout: timeoutMs };
    // Pipelining 0 closes each connection after its answer: the next request is checked again.
    return new Agent({ pipelining: 0, connect: options.ca === undefined ? connect : { ...connect, ca: options.ca } });
  }

  async function exchange(url: URL, init: GuardedInit, signal: AbortSignal): Promise<Response> {
    const proxy = proxyFor(url, options.proxies ?? {});
    if (proxy !== undefined) {
      const way = { wall, proxy, ca: options.ca, timeoutMs, signal };
      const asked = { ...init, headers: withHost(init.headers, url.host) };
      return throughProxy(url, way, (tunnel, target) => ask(tunnel, target, asked, signal));
    }
    agent ??= openAgent();
    return ask(await agent, checkedUrl(url).url, init, signal);
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
