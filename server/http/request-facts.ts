import type { IncomingMessage } from "node:http";
import type { Principal } from "#server/access/principal";
import type { ProxyTrust } from "#server/platform/proxy-trust";
import type { Random } from "#server/platform/random";
import { clientAddress } from "./client-address.ts";

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

export function factsOf(request: IncomingMessage, random: Random, options: { proxyTrust: ProxyTrust }): RequestFacts {
  const given = request.headers["x-request-id"];
  const url = originForm(request.url ?? "/");
  const mark = url.indexOf("?");
  return {
    requestId: typeof given === "string" && REQUEST_ID.test(given) ? given : random.uuid(),
    ip: clientAddress(request, options.proxyTrust),
    userAgent: request.headers["user-agent"] ?? null,
    path: mark < 0 ? url : url.slice(0, mark),
    search: mark < 0 ? "" : url.slice(mark),
    origin: `http://${request.headers.host ?? "localhost"}`,
    caller: undefined,
  };
}

/** A client may name the server in the request line too (RFC 9112 §3.2.2). */
const originForm = (url: string): string => (url.startsWith("/") ? url : url.replace(/^[a-z]+:\/\/[^/?]*/i, ""));
