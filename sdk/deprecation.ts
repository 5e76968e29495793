import type { RawResponse } from "./transport.ts";

/** The server's notice that it will withdraw an operation (RFC 9745 and RFC 8594). */
export interface Deprecation {
  readonly operation: string;
  /** When it was deprecated; undefined if the server named no date. */
  readonly deprecatedAt: Date | undefined;
  /** When it stops working. */
  readonly sunsetAt: Date | undefined;
  /** URL of an explanation. */
  readonly link: string | undefined;
}

/** Undefined for an answer with neither a `Deprecation` nor a `Sunset` header. */
export function deprecationOf(operation: string, headers: RawResponse["headers"]): Deprecation | undefined {
  const deprecated = headers.get("deprecation");
  const sunset = headers.get("sunset");
  if (deprecated === null && sunset === null) return undefined;
  return { operation, deprecatedAt: dateOf(deprecated), sunsetAt: dateOf(sunset), link: linkOf(headers.get("link")) };
}

/** `@1767225600`, or the HTTP date of older servers; `true` names no date. */
function dateOf(value: string | null): Date | undefined {
  const seconds = /^@(\d+)$/.exec(value?.trim() ?? "")?.[1];
  const date = new Date(seconds === undefined ? (value ?? "") : Number(seconds) * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function linkOf(value: string | null): string | undefined {
  const links = [...(value ?? "").matchAll(/<([^>]*)>([^<]*)/g)];
  const about = (rel: string) => links.find(([, , rest]) => new RegExp(`rel="?[^",;]*\\b${rel}\\b`).test(rest ?? ""));
  return (about("deprecation") ?? about("sunset"))?.[1];
}
