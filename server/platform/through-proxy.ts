import { isIP } from "node:net";
import type { Dispatcher } from "undici";
import type { HttpProxy } from "#contract/core/proxy";
import { type AddressWall, literalOf, OutboundRefused, refusedAfter } from "./address-wall.ts";

interface Way {
  readonly wall: AddressWall;
  readonly proxy: HttpProxy;
  readonly ca: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Asks through a tunnel of the proxy to an address that was checked; the proxy never learns a name to look up. */
export async function throughProxy<A>(
  url: URL,
  { wall, proxy, ca, timeoutMs, signal }: Way,
  ask: (tunnel: Dispatcher, target: URL) => Promise<A>,
): Promise<A> {
  const { name } = wall.checkedUrl(url);
  const literal = literalOf(url);
  const [address = literal] = name === undefined ? [] : await wall.checkedAddresses(name);
  const target = new URL(url);
  target.hostname = isIP(address) === 6 ? `[${address}]` : address;
  const { openTunnel } = await import("./tunnel.ts");
  const tunnel = openTunnel(proxy, { name, ca });
  try {
    // A request that waits for its tunnel does not look at its signal.
    return await Promise.race([ask(tunnel, target), refusedAfter(timeoutMs)]);
  } catch (error) {
    if (error instanceof OutboundRefused || signal.aborted) throw error;
    throw new OutboundRefused("proxy", new Error(`${proxy.address}: ${(error as Error).message}`));
  } finally {
    void tunnel.destroy().catch(() => undefined);
  }
}
