import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** What the page sent: the one-time code, or why there is none. */
export type HandOver = { readonly code: string } | { readonly error: string };

/** Why a request is not the hand-over. */
export interface Refused {
  readonly status: number;
  readonly reason: string;
}

/** Longer than any form that the page sends. */
export const MOST_BYTES = 4_096;

interface Head {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Checks the head of a request. The host must be 127.0.0.1 itself: a page under another name that resolves to 127.0.0.1
 * sends that name.
 */
export function refuseHead({ method, url, headers }: Head, port: number): Refused | undefined {
  if (headers.host !== `127.0.0.1:${port}`) return { status: 421, reason: "Wrong host" };
  if (url !== "/") return { status: 404, reason: "Nothing is here" };
  if (method !== "POST") return { status: 405, reason: "Only sign-in results are accepted here" };
  if (headers["content-type"]?.split(";")[0]?.trim().toLowerCase() !== "application/x-www-form-urlencoded")
    return { status: 415, reason: "Not a form" };
  if (Number(headers["content-length"] ?? 0) > MOST_BYTES) return tooLong;
  return undefined;
}

export const tooLong: Refused = { status: 413, reason: "Too long" };

/** Parses the form, which must have each field exactly once. A wrong state is refused before anything else is checked. */
export function readHandOver(body: string, state: string): HandOver | Refused {
  const form = new URLSearchParams(body);
  const given = form.getAll("state");
  if (given.length !== 1 || !isSame(given[0] as string, state)) return { status: 403, reason: "Not this sign-in" };
  const fields = [...form].filter(([name]) => name !== "state");
  const [name, value = ""] = fields[0] ?? [];
  if (fields.length === 1 && name === "ssoCode" && /^[\w-]{16,256}$/.test(value)) return { code: value };
  if (fields.length === 1 && name === "ssoError" && /^[a-z_]{1,64}$/.test(value)) return { error: value };
  return { status: 400, reason: "Not a hand-over" };
}

/** In constant time, whatever the lengths. */
const isSame = (given: string, expected: string): boolean => timingSafeEqual(digest(given), digest(expected));
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
