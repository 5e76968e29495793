import type { Pool } from "undici";
import { proxyFor } from "#contract/core/proxy";
import {
  addressWall,
  type GuardOptions,
  literalOf,
  OutboundRefused,
  pinningLookup,
  refusalOf,
} from "./address-wall.ts";
import { isPublicAddress } from "./public-address.ts";
import { throughProxy } from "./through-proxy.ts";

export interface PostInit {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal?: AbortSignal;
}

export interface PostAnswer {
  readonly status: number;
  /** The beginning of the body, as UTF-8. */
  readonly text: string;
  /** It came from an address that is not public. */
  readonly isPrivate: boolean;
}

/** Posts to addresses that tenants choose, many of them to the same hosts. */
export interface GuardedPost {
  /** Rejects with `OutboundRefused`. Once the status is known it counts, however the body ends. */
  post(url: string, init: PostInit): Promise<PostAnswer>;
  assertSafe(url: string): Promise<void>;
  close(): Promise<void>;
}

export type PostOptions = GuardOptions & { readonly timeoutMs: number; readonly maxBytes: number };

const IDLE_MS = 4_000;
const FORGET_MS = 30_000;
/** Sockets to one host; who calls keeps fewer requests under way. */
const CONNECTIONS = 64;

interface Kept {
  readonly pool: Pool;
  usedMs: number;
}

/**
 * The wall of `guardedFetch` for many requests: each resolves the name and checks every address anew. A connection is
 * kept only among requests that found the same addresses, so none ever goes to one that it did not check itself.
 * Redirects are answers like any other.
 */
export function guardedPost(options: PostOptions): GuardedPost {
  const { timeoutMs, maxBytes, ca } = options;
  const wall = addressWall(options);
  const isPublic = options.isPublic ?? isPublicAddress;
  const pools = new Map<string, Kept>();
  let sweptMs = 0;

  async function poolFor(url: URL, addresses: readonly string[]): Promise<Pool> {
    const { Pool } = await import("undici");
    const nowMs = performance.now();
    forgetIdle(nowMs);
    const key = `${url.origin} ${addresses.toSorted().join(" ")}`;
    let kept = pools.get(key);
    if (kept === undefined) {
      const connect = { lookup: pinningLookup(async () => [...addresses]), timeout: timeoutMs };
      const pool = new Pool(url.origin, {
        connections: CONNECTIONS,
        keepAliveTimeout: IDLE_MS,
        keepAliveMaxTimeout: IDLE_MS,
        connect: ca === undefined ? connect : { ...connect, ca },
      });
      kept = { pool, usedMs: nowMs };
      pools.set(key, kept);
    }
    kept.usedMs = nowMs;
    return kept.pool;
  }

  function forgetIdle(nowMs: number): void {
    if (nowMs - sweptMs < FORGET_MS) return;
    sweptMs = nowMs;
    for (const [key, { pool, usedMs }] of pools) {
      // Its requests have long ended: none takes longer than this.
      if (nowMs - usedMs < FORGET_MS + timeoutMs) continue;
      pools.delete(key);
      void pool.close().catch(() => undefined);
    }
  }

  /** Without TLS only addresses of the own network are allowed. */
  function refuseInClear(url: URL, addresses: readonly string[]): void {
    if (url.protocol === "http:" && addresses.some(isPublic)) throw new OutboundRefused("not_https");
  }

  async function addressesOf(url: URL, name: string | undefined): Promise<string[]> {
    const addresses = name === undefined ? [literalOf(url)] : await wall.checkedAddresses(name);
    refuseInClear(url, addresses);
    return addresses;
  }

  async function exchange(given: string, init: PostInit, signal: AbortSignal): Promise<PostAnswer> {
    const { url, name } = wall.checkedUrl(given);
    const headers = { ...init.headers, "accept-encoding": "identity" };
    const request = { method: "POST", path: url.pathname + url.search, headers, body: init.body, signal } as const;
    const proxy = proxyFor(url, options.proxies ?? {});
    if (proxy !== undefined)
      return throughProxy(url, { wall, proxy, ca, timeoutMs, signal }, async (tunnel, target) => {
        refuseInClear(url, [literalOf(target)]);
        const answer = await tunnel.request({
          ...request,
          origin: target.origin,
          headers: { ...headers, host: url.host },
        });
        return {
          status: answer.statusCode,
          text: await beginning(answer.body, maxBytes),
          isPrivate: !isPublic(literalOf(target)),
        };
      });
    const addresses = await addressesOf(url, name);
    const pool = await poolFor(url, addresses);
    const answer = await pool.request(request);
    return {
      status: answer.statusCode,
      text: await beginning(answer.body, maxBytes),
      isPrivate: !addresses.every(isPublic),
    };
  }

  return {
    async post(url, init) {
      const limit = AbortSignal.timeout(timeoutMs);
      try {
        return await exchange(url, init, init.signal ? AbortSignal.any([limit, init.signal]) : limit);
      } catch (error) {
        throw refusalOf(error);
      }
    },
    async assertSafe(url) {
      const checked = wall.checkedUrl(url);
      await addressesOf(checked.url, checked.name);
    },
    async close() {
      const open = [...pools.values()];
      pools.clear();
      await Promise.all(open.map(({ pool }) => pool.destroy().catch(() => undefined)));
    },
  };
}

/** What came of a body before it ended, was cut or took too long. */
async function beginning(stream: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= maxBytes) break;
    }
  } catch {
    // The status is known already.
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString("utf8");
}
