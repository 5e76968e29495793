import type { ListedKey } from "./listed-key.ts";

/** What has to hold of a key, all of it. */
export interface KeyFilter {
  /** It works now and ends within this time. */
  readonly expiringMs?: number | undefined;
  /** It works now, and its material is older than this. */
  readonly olderThanMs?: number | undefined;
  /** Also those that are revoked. */
  readonly revoked?: boolean | undefined;
}

/** The keys that the filter lets through: those that end soonest first, or else the oldest material first. */
export function selectKeys(keys: readonly ListedKey[], filter: KeyFilter, nowMs: number): ListedKey[] {
  const { expiringMs, olderThanMs, revoked = false } = filter;
  const timed = expiringMs !== undefined || olderThanMs !== undefined;
  const chosen = keys.filter((key) => {
    if (timed ? key.status !== "active" : !revoked && key.status === "revoked") return false;
    if (olderThanMs !== undefined && nowMs - Date.parse(key.issuedAt) <= olderThanMs) return false;
    return expiringMs === undefined || (key.expiresAt !== null && Date.parse(key.expiresAt) - nowMs <= expiringMs);
  });
  const end = ({ expiresAt }: ListedKey) => (expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt));
  const age = (key: ListedKey) => Date.parse(key.issuedAt);
  return chosen.sort((a, b) =>
    expiringMs === undefined
      ? age(a) - age(b) || a.id.localeCompare(b.id)
      : end(a) - end(b) || a.id.localeCompare(b.id),
  );
}
