import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** What the page sent: what it was to bring, or why it does not. */
export type HandOver = { readonly answer: string } | { readonly error: string };

/** The form that a page sends: the field that brings what is waited for, and the one that says why it does not. */
export interface Awaited {
  readonly answer: { readonly field: string; readonly pattern: RegExp };
  readonly error: string;
  /** Longer than any form that the page sends. */
  readonly mostBytes: number;
}

/** Why a request is not the hand-over. */
export interface Refused {
  readonly status: number;
  readonly reason: string;
}

interface Head {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Checks the head of a request. The host must be 127.0.0.1 itself: a page under another name that resolves to 127.0.0.1
 * sends that name.
 */
export function refuseHead({ method, url, headers }: Head, port: number, mostBytes: number): Refused | undefined {
  if (headers.host !== `127.0.0.1:${port}`) return { status: 421, reason: "Wrong host" };
  if (url !== "/") return { status: 404, reason: "Nothing is here" };
  if (method !== "POST") return { status: 405, reason: "Only what the page sends is accepted here" };
  if (headers["content-type"]?.split(";")[0]?.trim().toLowerCase() !== "application/x-www-form-urlencoded")
    return { status: 415, reason: "Not a form" };
  if (Number(headers["content-length"] ?? 0) > mostBytes) return tooLong;
  return undefined;
}

export const tooLong: Refused = { status: 413, reason: "Too long" };

/** Parses the form, which must have each field exactly once. A wrong state is refused before anything else is checked. */
export function readHandOver(body: string, state: string, { answer, error }: Awaited): HandOver | Refused {
  const form = new URLSearchParams(body);
  const given = form.getAll("state");
  if (given.length !== 1 || !isSame(given[0] as string, state))
    return { status: 403, reason: "Not what this command waits for" };
  const fields = [...form].filter(([name]) => name !== "state");
  const [name, value = ""] = fields[0] ?? [];
  if (fields.length === 1 && name === answer.field && answer.pattern.test(value)) return { answer: value };
  if (fields.length === 1 && name === error && /^[a-z_]{1,64}$/.test(value)) return { error: value };
  return { status: 400, reason: "Not a hand-over" };
}

/** In constant time, whatever the lengths. */
const isSame = (given: string, expected: string): boolean => timingSafeEqual(digest(given), digest(expected));
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
