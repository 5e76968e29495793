import type { SqliteConnection } from "../db/dialect/sqlite-library.ts";
import { type ChainKind, chainHasher, sha256 } from "./chain.ts";
import { joinCanonical } from "./sqlite-canonical.ts";

const HASHERS_MAX = 1_000;

/**
 * Registers the functions that the audit triggers call (`db/migrations/audit-sqlite.ts`). Every connection that writes
 * needs them. Only the retention worker's connection sets `mayPrune`.
 */
export function registerAuditFunctions(db: SqliteConnection, options: { mayPrune?: boolean } = {}): void {
  db.function("audit_seal", { deterministic: true }, sealing() as (...values: unknown[]) => string);
  db.function("audit_may_prune", () => (options.mayPrune ? 1 : 0));
}

/** Makes `audit_seal`: the chain hash of a new row, refused unless its checksum is the hash of its content. */
function sealing() {
  const hashers = new Map<string, ReturnType<typeof chainHasher>>();
  const hasherOf = (kind: ChainKind, id: string) => {
    const key = kind + id;
    const known = hashers.get(key);
    if (known) return known;
    if (hashers.size >= HASHERS_MAX) hashers.clear();
    const made = chainHasher({ kind, id });
    hashers.set(key, made);
    return made;
  };
  return (
    kind: ChainKind,
    id: string,
    seq: number,
    prev: string | null,
    checksum: string,
    before: string,
    timestamp: string,
    after: string,
  ) => {
    if (sha256(joinCanonical(before, timestamp, after)) !== checksum)
      throw new Error("the checksum of an audit row is not the hash of its content");
    return hasherOf(kind, id)(seq, checksum, prev);
  };
}
