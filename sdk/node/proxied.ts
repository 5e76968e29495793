import { Readable } from "node:stream";
import { type Dispatcher, ProxyAgent, request } from "undici";
import type { HttpProxy } from "#contract/core/proxy";
import type { RawResponse, Transport } from "../transport.ts";

/** Transport through one proxy: https in a tunnel, http as a request to the proxy. Its failures name the proxy. */
export function proxiedTransport(proxy: HttpProxy, options: { ca?: string | Buffer | undefined }): Transport {
  const open = () =>
    new ProxyAgent({
      uri: proxy.address,
      proxyTunnel: false,
      ...(proxy.authorization === undefined ? {} : { token: proxy.authorization }),
      ...(options.ca === undefined ? {} : { requestTls: { ca: options.ca }, proxyTls: { ca: options.ca } }),
    });
  let agent = open();
  return async ({ method, url, headers, body, signal }) => {
    try {
      const asked = request(url, {
        dispatcher: agent,
        method: method as Dispatcher.HttpMethod,
        headers,
        body: body ?? null,
        signal,
      });
      // A request that waits for its tunnel does not look at its signal.
      const answer = await Promise.race([asked, abortOf(signal)]);
      if (answer.statusCode === 407) throw refused(407);
      return rawResponse(answer, signal);
    } catch (error) {
      if (signal.aborted) {
        // A proxy that is silent keeps the connection, and with it the process.
        void agent.destroy().catch(() => undefined);
        agent = open();
        throw Object.assign(new Error("aborted"), { cause: signal.reason, proxy: proxy.address });
      }
      const status = /^Proxy (?:response|Authentication Required) \((\d+)\)/.exec((error as Error).message)?.[1];
      throw Object.assign(status === undefined ? (error as Error) : refused(Number(status)), { proxy: proxy.address });
    }
  };
}

const abortOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });

/** The proxy itself said no: the server has not seen the request. */
const refused = (status: number) =>
  Object.assign(new Error(`the proxy answered ${status}`), { code: `PROXY_${status}`, sent: false });

function rawResponse({ statusCode, headers, body }: Dispatcher.ResponseData, signal: AbortSignal): RawResponse {
  const values = new Map(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
  );
  return {
    status: statusCode,
    headers: {
      get: (name) => values.get(name.toLowerCase()) ?? null,
      forEach: (each) => {
        for (const [name, value] of values) if (value !== undefined) each(value, name);
      },
    },
    get body() {
      return Readable.toWeb(body) as ReadableStream<Uint8Array>;
    },
    text: () =>
      body.text().catch((error: unknown) => {
        throw signal.aborted ? signal.reason : error;
      }),
  };
}
