import type pg from "pg";
import type { SqliteConnection } from "../db/dialect/sqlite-library.ts";
import type { ChainRef } from "./chain.ts";
import type { PruneRecord } from "./chain-source.ts";
import { workerResults } from "./worker-results.ts";

/** Removes the entries of a chain that are older than `before` (ISO-8601). */
export interface PruneTask {
  chain: ChainRef;
  before: string;
}

/** The privileged way in: the file, or `AUDIT_ADMIN_DATABASE_URL` (the owner, or a role that may execute `audit_prune`). */
export type PruneDatabase = { file: string } | { url: string };

/**
 * Prunes chains in a thread with a connection of its own. Each task removes the longest prefix whose rows are all
 * older, together with its prune record, or nothing (null). A missing row ends the prefix: a gap is evidence.
 */
export const pruneInWorker = (
  database: PruneDatabase,
  tasks: readonly PruneTask[],
): AsyncGenerator<PruneRecord | null> =>
  workerResults<PruneRecord | null>("prune-worker", { database, tasks: [...tasks] }, tasks.length);

export async function prunePostgresChain(
  client: pg.ClientBase,
  { chain, before }: PruneTask,
): Promise<PruneRecord | null> {
  const iso = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  const { rows } = await client.query(
    `select json_build_object('orgId', org_id, 'partnerId', partner_id, 'prunedThroughSeq', pruned_through_seq,
      'prunedThroughHash', pruned_through_hash, 'prunedCount', pruned_count, 'cutoff', ${iso("cutoff")},
      'prunedAt', ${iso("pruned_at")}) as record from public.audit_prune($1, $2, $3)`,
    [chain.kind, chain.id, before],
  );
  return rows[0]?.record ?? null;
}

/** `db` was registered with `mayPrune` (`sqlite-functions.ts`). */
export function pruneSqliteChain(db: SqliteConnection, { chain, before }: PruneTask): PruneRecord | null {
  const bound = { kind: chain.kind, id: chain.id, before };
  const prune = db.transaction((): PruneRecord | null => {
    const last = db.prepare(lastPrunable).get(bound) as { seq: number; hash: string; entries: number } | undefined;
    if (!last) return null;
    const record = db.prepare(insertPrune).get({ ...bound, ...last }) as PruneRecord;
    const prefix = { kind: chain.kind, id: chain.id, seq: last.seq };
    db.prepare(`delete from audit_logs where id in (select audit_id from audit_chain where ${prefixOf})`).run(prefix);
    db.prepare(`delete from audit_chain where ${prefixOf}`).run(prefix);
    return record;
  });
  return prune.immediate();
}

const prefixOf = "chain_kind = @kind and chain_id = @id and chain_seq <= @seq";

const lastPrunable = `
  select chain_seq as seq, chain_hash as hash,
    (select count(*) from audit_chain where chain_kind = @kind and chain_id = @id and chain_seq <= e.chain_seq) as entries
  from audit_chain e where chain_kind = @kind and chain_id = @id and chain_seq < coalesce((
    select c.chain_seq from audit_chain c left join audit_logs l on l.id = c.audit_id
    where c.chain_kind = @kind and c.chain_id = @id and (l.id is null or l.timestamp >= @before)
    order by c.chain_seq limit 1), 9223372036854775807)
  order by chain_seq desc limit 1`;

const insertPrune = `
  insert into audit_prunes (chain_kind, chain_id, pruned_through_seq, pruned_through_hash, pruned_count, cutoff, pruned_at)
  values (@kind, @id, @seq, @hash, @entries, @before, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
  returning org_id as orgId, partner_id as partnerId, pruned_through_seq as prunedThroughSeq,
    pruned_through_hash as prunedThroughHash, pruned_count as prunedCount, cutoff, pruned_at as prunedAt`;
