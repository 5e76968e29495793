import type { ListedKey } from "./listed-key.ts";

/** Conditions for a key; all must be true. */
export interface KeyFilter {
  /** It is active and expires within this time. */
  readonly expiringMs?: number | undefined;
  /** It is active and its secret is older than this. */
  readonly olderThanMs?: number | undefined;
  /** Also those that are revoked. */
  readonly revoked?: boolean | undefined;
}

/** The matching keys: those that expire soonest first, otherwise the oldest secrets first. */
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
