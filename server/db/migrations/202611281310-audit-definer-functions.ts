import type { SchemaChange } from "../schema-change.ts";

/**
 * Postgres: anchors enter through a function that checks the server's signature, and each role has the rights on the
 * audit record that its work takes.
 *
 * The signature is the server's own, not that of the anchor key: an anchor with a worthless signature of the anchor key
 * would break its chain for good, and the database cannot check that one.
 */
export const migration: SchemaChange = {
  statements: (dialect) => (dialect === "postgres" ? postgres : []),
};

const definer = "language plpgsql security definer set search_path = pg_catalog, pg_temp";

const signed = `create function rmm_private.require_signature(purpose text, statement text, key text, signature bytea) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform from rmm_private.scope_keys k where k.id = key and signature =
    sha256(k.outer_pad || sha256(k.inner_pad || convert_to(concat_ws(' ', purpose, statement), 'UTF8')));
  if not found then raise exception 'the statement is not signed by the server' using errcode = '28000'; end if;
end $$`;

const anchor = `create function public.audit_anchor(statement text, key text, signature bytea) returns void ${definer} as $$
declare a jsonb := statement::jsonb;
begin
  perform rmm_private.require_signature('audit-anchor', statement, key, signature);
  insert into public.audit_anchors (chain_kind, chain_id, anchor_seq, head_chain_seq, head_chain_hash, entry_count,
      merkle_root, prev_anchor_hash, anchored_at, signature, signing_key_id)
    values (a->>'chainKind', (a->>'chainId')::uuid, (a->>'anchorSeq')::bigint, (a->>'headChainSeq')::bigint,
      a->>'headChainHash', (a->>'entryCount')::bigint, a->>'merkleRoot', a->>'prevAnchorHash',
      (a->>'anchoredAt')::timestamptz, a->>'signature', a->>'signingKeyId');
end $$`;

const record = "public.audit_chain, public.audit_anchors, public.audit_prunes";

const rights = [
  "revoke all on function public.audit_anchor(text, text, bytea), rmm_private.require_signature(text, text, text, bytea) from public",
  "grant execute on function public.audit_anchor(text, text, bytea) to rmm_system",
  `revoke all on public.audit_logs, public.leases, ${record} from public, rmm_app, rmm_system`,
  "grant select on public.audit_logs to rmm_app",
  "grant insert on public.audit_logs to rmm_system",
  `grant select on ${record} to rmm_system`,
  "grant select, insert, update, delete on public.leases to rmm_system",
];

const postgres = [signed, anchor, ...rights];
