import type pg from "pg";
import { type ChainStatement, isPrune } from "./anchor-format.ts";
import { type AuditContent, type ChainRef, contentFields } from "./chain.ts";
import type { StatementKey } from "./insert-anchor.ts";
import { isoUtc, statementsSql } from "./postgres-statements.ts";
import type { OldEntry, PrunableChain, UnsignedPrune } from "./prune-chain.ts";
import { storedStatement } from "./stored-statement.ts";

const ENTRIES_AT_ONCE = 1_000;
const SESSION = "set local search_path = pg_catalog, pg_temp; set local timezone = 'UTC'";

/** Runs `work` on one chain in a transaction of its own. From `latest` on nothing else is sealed or anchored in it. */
export async function withPostgresChain<R>(
  client: pg.ClientBase,
  { chain, key }: { chain: ChainRef; key: StatementKey | undefined },
  work: (prunable: PrunableChain) => Promise<R>,
): Promise<R> {
  await client.query("begin isolation level read committed");
  try {
    await client.query(SESSION);
    const result = await work(prunableChain(client, chain, key));
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
}

const ofChain = "chain_kind = $1 and chain_id = $2";

function prunableChain(client: pg.ClientBase, { kind, id }: ChainRef, key: StatementKey | undefined): PrunableChain {
  const bound = [kind, id];
  const statement = async (where: string): Promise<ChainStatement | undefined> => {
    const { rows } = await client.query(
      `select statement from (${statementsSql(ofChain)}) s ${where} order by anchor_seq desc limit 1`,
      bound,
    );
    return rows[0] && storedStatement(rows[0].statement);
  };
  return {
    atOnce: 50_000,
    latest: async () => {
      // As the tables' triggers lock it, and as late as can be: the writer waits meanwhile.
      await client.query("select pg_advisory_xact_lock(hashtextextended($1 || $2::uuid::text, 7141))", bound);
      return statement("");
    },
    newestPrune: async () => {
      const record = await statement(
        `where anchor_seq = (select max(anchor_seq) from public.audit_prunes where ${ofChain})`,
      );
      return record && isPrune(record) ? record : undefined;
    },
    lowestHeadAfter: async (moment) => {
      const { rows } = await client.query(
        `select min(head_chain_seq) as lowest from public.audit_anchors where ${ofChain} and anchored_at > $3`,
        [...bound, moment],
      );
      return rows[0].lowest === null ? undefined : Number(rows[0].lowest);
    },
    async *entries() {
      // Most chains have nothing old: one entry tells.
      for (let [after, limit] = ["-1", 1]; ; limit = ENTRIES_AT_ONCE) {
        const { rows } = await client.query(entriesSql, [...bound, after, limit]);
        for (const row of rows) yield entryOf(row);
        if (rows.length < limit) return;
        after = rows.at(-1).chainSeq;
      }
    },
    prune: async (record) => {
      const text = JSON.stringify(record);
      // Without a key as the owner of the tables, who needs to prove nothing: tests of the record alone.
      if (!key) return void (await client.query("select public.audit_remove($1)", [text]));
      const signature = key.sign(`audit-prune ${text}`);
      await client.query("select public.audit_prune($1, $2, $3)", [text, key.id, signature]);
    },
  };
}

type StoredEntry = AuditContent & { checksum: string; chainSeq: string; rowId: string | null } & Omit<
    OldEntry,
    "chainSeq" | "row"
  >;

const entryOf = ({ chainSeq, auditId, contentHash, prevHash, chainHash, rowId, ...row }: StoredEntry): OldEntry => ({
  ...{ chainSeq: Number(chainSeq), auditId, contentHash, prevHash, chainHash },
  row: rowId === null ? null : row,
});

const column = (field: string) => {
  const name = `l."${field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}"`;
  return `${field === "timestamp" ? isoUtc(name) : name} as "${field}"`;
};

const entriesSql = `
  select c.chain_seq as "chainSeq", c.audit_id as "auditId", encode(c.content_hash, 'hex') as "contentHash",
    encode(c.prev_hash, 'hex') as "prevHash", encode(c.chain_hash, 'hex') as "chainHash", l.id as "rowId", l.checksum,
    ${contentFields.map(column).join(", ")}
  from public.audit_chain c left join public.audit_logs l on l.id = c.audit_id
  where c.${ofChain.replace("and ", "and c.")} and c.chain_seq > $3 order by c.chain_seq limit $4`;

/** The newest unsigned record of every chain that has no other yet. */
export async function postgresUnsignedPrunes(
  client: pg.ClientBase,
): Promise<{ chain: ChainRef; unsigned: UnsignedPrune }[]> {
  await client.query("begin read only");
  await client.query(SESSION);
  const { rows } = await client.query(unsignedSql);
  await client.query("commit");
  return rows.map(({ kind, id, unsigned }) => ({ chain: { kind, id }, unsigned }));
}

const unsignedSql = `
  select u.chain_kind as kind, u.chain_id as id, json_build_object('prunedThroughSeq', u.pruned_through_seq,
    'prunedThroughHash', u.pruned_through_hash, 'prunedCount', u.pruned_count, 'cutoff', ${isoUtc("u.cutoff")},
    'prunedAt', ${isoUtc("u.pruned_at")}) as unsigned
  from public.audit_unsigned_prunes u
  where u.pruned_through_seq = (select max(n.pruned_through_seq) from public.audit_unsigned_prunes n
      where n.chain_kind = u.chain_kind and n.chain_id = u.chain_id)
    and not exists (select from public.audit_prunes p where p.chain_kind = u.chain_kind and p.chain_id = u.chain_id)
  order by u.chain_id`;
