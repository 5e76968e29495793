import type pg from "pg";
import type { ChainStatement } from "./anchor-format.ts";
import { storedStatement } from "./stored-statement.ts";

const STATEMENTS_AT_ONCE = 1_000;

/** Anchors and prune records of a chain, in the order of their numbers. */
export async function* walkStatements(client: pg.Client, where: string): AsyncGenerator<ChainStatement> {
  for (let after = "-9223372036854775808"; ; ) {
    const { rows } = await client.query(
      `${statementsSql(`${where} and anchor_seq > $1`)} order by anchor_seq limit $2`,
      [after, STATEMENTS_AT_ONCE],
    );
    for (const { statement } of rows) yield storedStatement(statement);
    if (rows.length < STATEMENTS_AT_ONCE) return;
    after = rows.at(-1).anchor_seq;
  }
}

/** Of a column without time zone, or in a session whose time zone is UTC. */
export const isoUtc = (column: string) => `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Rows `anchor_seq, statement`, in no order; the session's time zone is UTC. */
export const statementsSql = (where: string) => `
  select anchor_seq, json_build_object('anchorSeq', anchor_seq, 'chainKind', chain_kind, 'chainId', chain_id,
    'headChainSeq', head_chain_seq, 'headChainHash', head_chain_hash, 'entryCount', entry_count,
    'merkleRoot', merkle_root, 'prevAnchorHash', prev_anchor_hash, 'anchoredAt', ${isoUtc("anchored_at")},
    'signature', signature, 'signingKeyId', signing_key_id) as statement
  from public.audit_anchors where ${where}
  union all
  select anchor_seq, json_build_object('type', 'prune', 'anchorSeq', anchor_seq, 'chainKind', chain_kind,
    'chainId', chain_id, 'prunedThroughSeq', pruned_through_seq, 'prunedThroughHash', pruned_through_hash,
    'prunedCount', pruned_count, 'cutoff', ${isoUtc("cutoff")}, 'prunedAt', ${isoUtc("pruned_at")},
    'prevAnchorHash', prev_anchor_hash, 'restates', restates, 'breakCount', break_count,
    'signature', signature, 'signingKeyId', signing_key_id)
  from public.audit_prunes where ${where}`;
