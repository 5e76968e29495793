/** The part of a fetch `Response` that the SDK uses; a real `Response` is one. */
export interface RawResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null; forEach(each: (value: string, name: string) => void): void };
  readonly body: ReadableStream<Uint8Array> | null;
  text(): Promise<string>;
}

export interface TransportRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

/** Sends one request once. Does not follow redirects, so that a credential never goes to another host. */
export type Transport = (request: TransportRequest) => Promise<RawResponse>;

type FetchLike = (input: Request | URL | string, init?: RequestInit) => Promise<Response>;

/** Transport over `fetch` for every runtime. ky is loaded with the first request: importing it costs a CLI 45 ms. */
export function fetchTransport(fetch?: FetchLike): Transport {
  return async ({ method, url, headers, body, signal }) => {
    const { default: ky } = await import("ky");
    return ky(url, {
      method,
      headers,
      signal,
      redirect: "manual",
      retry: 0,
      timeout: false,
      throwHttpErrors: false,
      ...(body === undefined ? {} : { body }),
      ...(fetch === undefined ? {} : { fetch }),
    });
  };
}

/** Codes of failures before the first byte left: the server cannot have seen the request. */
const beforeSending = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT",
  "ERR_INVALID_URL",
  "ERR_INVALID_CHAR",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CERT_HAS_EXPIRED",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

interface Failure {
  sent: boolean;
  code: string | undefined;
  message: string;
  /** The proxy that the request went through, without its password. */
  proxy: string | undefined;
}

/** Reads an error of a transport: whether the request had been sent, and the system's error code. */
export function failureOf(error: unknown): Failure {
  let sent = true;
  let code: string | undefined;
  let proxy: string | undefined;
  let message = "";
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth++) {
    const { code: own, sent: told, proxy: through } = one as { code?: unknown; sent?: unknown; proxy?: unknown };
    if (typeof through === "string") proxy ??= through;
    if (typeof own === "string") {
      code ??= own;
      if (beforeSending.has(own)) sent = false;
    }
    if (told === false) sent = false;
    message = one.message || message;
  }
  return { sent, code, message, proxy };
}
