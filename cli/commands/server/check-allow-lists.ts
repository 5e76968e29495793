import type { Check } from "./check.ts";

/** Do allow-lists of addresses hold, with the proxies that the server trusts? */
export function allowListsCheck(count: number | undefined, trustsClients: boolean): Check {
  const check = "allow-lists";
  if (count === undefined) return { check, status: "skip", message: "not read before every migration is applied" };
  const principals = `${count} partner principal${count === 1 ? "" : "s"}`;
  if (count === 0 || !trustsClients) return { check, status: "ok", message: `of ${principals}` };
  return {
    check,
    status: "warn",
    message: `${principals} may come from named addresses alone, but who reaches this server past its proxies can name any`,
    remedy: "Give your proxies' networks in TRUST_PROXY_HEADERS, and let nobody else reach this server",
  };
}
