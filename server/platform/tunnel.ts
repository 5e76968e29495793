import { type Dispatcher, ProxyAgent } from "undici";
import type { HttpProxy } from "#contract/core/proxy";

/** Connections through a proxy to an address; TLS is spoken to `name`, whose certificate is asked for. */
export const openTunnel = (
  proxy: HttpProxy,
  { name, ca }: { name: string | undefined; ca: string | undefined },
): Dispatcher =>
  new ProxyAgent({
    uri: proxy.address,
    ...(proxy.authorization === undefined ? {} : { token: proxy.authorization }),
    requestTls: { ...(name === undefined ? {} : { servername: name }), ...(ca === undefined ? {} : { ca }) },
  });
