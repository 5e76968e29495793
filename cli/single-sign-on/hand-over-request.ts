import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** What the page handed over: the one-time code, or why there is none. */
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
 * What the head of a request tells. The name must be the number of this machine: a page of another name that resolves
 * to 127.0.0.1 sends its own.
 */
export function refuseHead({ method, url, headers }: Head, port: number): Refused | undefined {
  if (headers.host !== `127.0.0.1:${port}`) return { status: 421, reason: "Wrong host" };
  if (url !== "/") return { status: 404, reason: "Nothing is here" };
  if (method !== "POST") return { status: 405, reason: "Only the sign-in is received here" };
  if (headers["content-type"]?.split(";")[0]?.trim().toLowerCase() !== "application/x-www-form-urlencoded")
    return { status: 415, reason: "Not a form" };
  if (Number(headers["content-length"] ?? 0) > MOST_BYTES) return tooLong;
  return undefined;
}

export const tooLong: Refused = { status: 413, reason: "Too long" };

/** Reads the form. Every field once, none beside them; who does not know the state learns nothing else. */
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
