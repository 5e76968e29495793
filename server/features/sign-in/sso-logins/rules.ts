import { asciiDomain } from "#contract/core/email";
import type { Limit } from "#server/access/rate-limit";
import { MINUTE } from "#server/platform/clock";

/** Starts of sign-ins, whatever their outcome (docs/single-sign-on.md, "Starting a sign-in"). */
export const startPerAddress: Limit = { name: "sso-start-ip", max: 30, windowSeconds: 300 };
export const startPerAddressAndTarget: Limit = { name: "sso-start-target", max: 10, windowSeconds: 300 };
export const discoveryPerAddress: Limit = { name: "sso-discovery", max: 20, windowSeconds: 60 };

/** A sign-in under way, and the cookie that binds it to its browser. */
export const LOGIN_SESSION_MS = 10 * MINUTE;
export const EXCHANGE_CODE_MS = 2 * MINUTE;

const PATH_MAX = 2_000;

/** Path of the page that hands codes to the command line. */
export const CLI_PAGE = "/api/v1/sso/cli";

/**
 * Where a sign-in may end: a path of this server. Anything that a browser could read as another host, or that is no
 * path, becomes `/`. A fragment is dropped: the one-time code takes its place. Of the API only the page of the command
 * line is allowed: a browser keeps the fragment through a redirect, so ending at `/sso/login/<org>` would take the code
 * to any host that the organization names as its identity provider.
 */
export function safeRedirect(given: string | undefined): string {
  if (given === undefined || given.length > PATH_MAX || !/^\/(?![/\\])[\x21-\x7e]*$/.test(given)) return "/";
  if (given.includes("\\") || !URL.canParse(given, "http://here.invalid")) return "/";
  const { origin, pathname, search } = new URL(given, "http://here.invalid");
  const path = `${pathname}${search}`;
  if (origin !== "http://here.invalid" || path.startsWith("//")) return "/";
  return pathname === CLI_PAGE || !leadsToApi(pathname) ? path : "/";
}

/** Also if only a proxy in front, which decodes and normalizes paths, would lead there. */
function leadsToApi(pathname: string): boolean {
  const plain = pathname.replaceAll(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
  const isUntidy = /\/\/|[\\%]|\/\.{1,2}(\/|$)/.test(plain);
  return isUntidy || /^\/api(\/|$)/i.test(plain);
}

/** `allowedDomains` as it is stored; null = every domain. */
export function isAllowedDomain(allowed: string | null, domain: string): boolean {
  const listed = (allowed ?? "").split(",").map((one) => one.trim().toLowerCase());
  const named = listed.filter((one) => one !== "");
  return named.length === 0 || named.some((one) => (asciiDomain(one) ?? one) === domain);
}
