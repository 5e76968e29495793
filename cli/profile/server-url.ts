import { usageError } from "../errors/cli-error.ts";

/**
 * One spelling of a server's address, so that `HTTPS://Rmm.Example/`, `rmm.example` and
 * `https://rmm.example/api/v1` share one entry. `source` is named when it is no address.
 */
export function normalizeServer(given: string, source: string): string {
  const text = given.trim();
  const local = /^(localhost|127\.|\[::1\])/i.test(text);
  const spelled = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `${local ? "http" : "https"}://${text}`;
  if (!URL.canParse(spelled)) throw usageError(`${source} is not an address: use https://host`);
  const url = new URL(spelled);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw usageError(`${source} must be an http or https address`);
  if (url.username !== "" || url.password !== "") throw usageError(`${source} must not hold a user name or password`);
  const path = url.pathname
    .replace(/\/+$/, "")
    .replace(/\/api\/v1$/, "")
    .replace(/\/+$/, "");
  return `${url.protocol}//${url.host}${path}`;
}
