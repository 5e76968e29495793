import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { type HttpProxy, type ProxyVariables, proxyFor } from "#contract/core/proxy";
import type { RawResponse, Transport, TransportRequest } from "../transport.ts";

/**
 * Transport on node:http(s) with kept connections: the first `fetch` of Node 20 costs about 290 ms, this one
 * a few. Its failures say whether the request had left (`sent`). `ca` takes the place of the authorities that this Node
 * trusts, to which `NODE_EXTRA_CA_CERTS` adds. `env` names the proxies: `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`.
 */
export function nodeTransport(options: { ca?: string | Buffer; env?: ProxyVariables } = {}): Transport {
  const env = options.env ?? process.env;
  const proxied = new Map<string, Promise<Transport>>();
  const through = (proxy: HttpProxy): Promise<Transport> => {
    const known = proxied.get(proxy.address);
    if (known) return known;
    const made = import("./proxied.ts").then(({ proxiedTransport }) => proxiedTransport(proxy, options));
    proxied.set(proxy.address, made);
    return made;
  };
  const ways: Ways = {
    plain: { agent: new HttpAgent({ keepAlive: true }), request: httpRequest },
    // Loaded for the first such call: with TLS it costs a start 10 ms.
    secure: () => {
      const { Agent, request } = process.getBuiltinModule("node:https");
      const agent = new Agent({ keepAlive: true, ...(options.ca === undefined ? {} : { ca: options.ca }) });
      ways.secure = () => way;
      const way = { agent, request };
      return way;
    },
  };
  return async (request) => {
    const proxy = proxyFor(new URL(request.url), env);
    if (proxy !== undefined) return (await through(proxy))(request);
    return new Promise((resolve, reject) => {
      if (request.signal.aborted) return reject(request.signal.reason);
      send(ways, request, resolve, reject);
    });
  };
}

interface Way {
  readonly agent: HttpAgent;
  readonly request: typeof httpRequest;
}

interface Ways {
  readonly plain: Way;
  secure: () => Way;
}

function send(
  ways: Ways,
  { method, url, headers, body, signal }: TransportRequest,
  resolve: (response: RawResponse) => void,
  reject: (error: unknown) => void,
): void {
  const target = new URL(url);
  const secure = target.protocol === "https:";
  let sent = false;
  const fail = (error: Error) => reject(signal.aborted ? signal.reason : Object.assign(error, { sent }));
  const { agent, request } = secure ? ways.secure() : ways.plain;
  const outgoing = request(target, {
    method,
    agent,
    headers: { ...headers, ...(body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }) },
  });
  const stop = () => outgoing.destroy();
  signal.addEventListener("abort", stop, { once: true });
  outgoing.on("close", () => signal.removeEventListener("abort", stop));
  const leaves = () => {
    sent = true;
  };
  outgoing.on("socket", (socket) => {
    if (socket.connecting) socket.once(secure ? "secureConnect" : "connect", leaves);
    else leaves();
  });
  outgoing.on("error", fail);
  outgoing.on("response", (incoming) => resolve(rawResponse(incoming, signal)));
  outgoing.end(body);
}

function rawResponse(incoming: IncomingMessage, signal: AbortSignal): RawResponse {
  const values = new Map(
    Object.entries(incoming.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
  );
  return {
    status: incoming.statusCode ?? 0,
    headers: {
      get: (name) => values.get(name.toLowerCase()) ?? null,
      forEach: (each) => {
        for (const [name, value] of values) if (value !== undefined) each(value, name);
      },
    },
    get body() {
      return Readable.toWeb(incoming) as ReadableStream<Uint8Array>;
    },
    text: () => textOf(incoming, signal),
  };
}

/** A body that ends early is an error, never a shorter text. */
async function textOf(incoming: IncomingMessage, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
  return Buffer.concat(chunks).toString("utf8");
}
