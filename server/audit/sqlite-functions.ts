import type { Database } from "better-sqlite3";
import { type ChainKind, chainHasher, sha256 } from "./chain.ts";
import { timestampMs } from "./timestamp-ms.ts";

type Text = string | null;

const HASHERS_MAX = 1_000;

/**
 * Registers the functions that the audit triggers call (`db/migrations/audit-sqlite.ts`). Every connection that
 * writes needs them. `mayPrune` is for the retention worker's own connection and nobody else's.
 */
export function registerAuditFunctions(db: Database, options: { mayPrune?: boolean } = {}): void {
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
  const seal = (kind: ChainKind, id: string, seq: number, prev: Text, checksum: string, ...content: Text[]) => {
    // Content is in canonical order; its fourth element is the timestamp.
    content[3] = String(timestampMs(content[3] ?? ""));
    if (sha256(JSON.stringify(["al1", ...content])) !== checksum)
      throw new Error("the checksum of an audit row is not the hash of its content");
    return hasherOf(kind, id)(seq, checksum, prev);
  };
  db.function("audit_seal", { varargs: true, deterministic: true }, seal as (...args: unknown[]) => unknown);
  db.function("audit_may_prune", () => (options.mayPrune ? 1 : 0));
}
