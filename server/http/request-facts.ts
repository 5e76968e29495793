import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Principal } from "#server/access/principal";
import type { Random } from "#server/platform/random";

/** What is known of a request before anything is looked up. */
export interface RequestFacts {
  readonly requestId: string;
  readonly ip: string | null;
  readonly userAgent: string | null;
  /** Path without query, and the query with its `?`. */
  readonly path: string;
  readonly search: string;
  /** `http://host` as the client addressed it. */
  readonly origin: string;
  caller: Principal | undefined;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

export function factsOf(
  request: IncomingMessage,
  random: Random,
  options: { trustProxyHeaders: boolean },
): RequestFacts {
  const given = request.headers["x-request-id"];
  const url = originForm(request.url ?? "/");
  const mark = url.indexOf("?");
  return {
    requestId: typeof given === "string" && REQUEST_ID.test(given) ? given : random.uuid(),
    ip: clientIp(request, options.trustProxyHeaders),
    userAgent: request.headers["user-agent"] ?? null,
    path: mark < 0 ? url : url.slice(0, mark),
    search: mark < 0 ? "" : url.slice(mark),
    origin: `http://${request.headers.host ?? "localhost"}`,
    caller: undefined,
  };
}

/** A client may name the server in the request line too (RFC 9112 §3.2.2). */
const originForm = (url: string): string => (url.startsWith("/") ? url : url.replace(/^[a-z]+:\/\/[^/?]*/i, ""));

/** Proxy headers count only where the operator trusts the proxy (docs/platform.md, "Client address"). */
function clientIp(request: IncomingMessage, trustProxy: boolean): string | null {
  if (trustProxy) {
    for (const name of ["cf-connecting-ip", "x-forwarded-for", "x-real-ip"]) {
      const value = request.headers[name];
      const first = (Array.isArray(value) ? value[0] : value)?.split(",")[0]?.trim();
      if (first && isIP(first)) return first;
    }
  }
  const address = request.socket.remoteAddress ?? null;
  return address?.startsWith("::ffff:") ? address.slice(7) : address;
}
