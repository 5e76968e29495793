import type { SchemaChange } from "../schema-change.ts";

/**
 * Postgres: a connection that serves tenants sees what the server signed for it, and nothing else.
 *
 * `rmm.scope` is a setting that anybody may change, so it is only a claim. The policies believe a claim whose digest is
 * the session's value of a sequence in `rmm_private`: the one thing that a session keeps for itself, that a role without
 * rights on the sequence can neither read nor set, and that ends with the connection. `rmm_enter` sets it, after
 * checking an HMAC of the server over the scope, the process, the database and a turn. A turn is the session's value of
 * another sequence, which no rollback winds back, and serves once: a signature is good for one connection and one use.
 *
 * A claim names the second it ends in, five minutes after the server made it. `system` also names its transaction and
 * has a sequence of its own, so that what comes after the transaction is what was before.
 *
 * Sixty-four bits of a digest are enough: a claim leaves nothing to choose but the tenant and some hundred seconds.
 */
export const migration: SchemaChange = {
  statements: (dialect) => (dialect === "postgres" ? postgres : []),
};

const LIFETIME = 300;
/** A clock that is set back makes a claim end later than it could. */
const ENDS_WITHIN = 2 * LIFETIME;

/** Names are qualified instead of a search path being set, which would cost a third of what these functions do (measured). */
const definer = "language plpgsql security definer";
const pg = (call: string) => `pg_catalog.${call}`;
const eq = "operator(pg_catalog.=)";
const claim = pg("current_setting('rmm.scope', true)");
const now = (clock: string) => `pg_catalog.date_part('epoch', ${pg(clock)})::pg_catalog.int8`;
const refuse = (reason: string) => `raise exception '${reason}' using errcode = '28000';`;

/** A sequence whose values are worth nothing once their sessions have ended; without a log where there are such. */
const marks = `do $$ declare kind text := case when current_setting('server_version_num')::int >= 150000 then 'unlogged' else '' end;
begin
  execute format('create %s sequence rmm_private.scope_mark minvalue -9223372036854775808', kind);
  execute format('create %s sequence rmm_private.system_mark minvalue -9223372036854775808', kind);
end $$`;

const tables = [
  "create schema rmm_private",
  `create table rmm_private.scope_keys (
  id text primary key,
  inner_pad bytea not null,
  outer_pad bytea not null,
  installed_at timestamptz not null
)`,
  // Each connection takes a thousand numbers at once: a number alone would wait for the disk every now and then.
  "create sequence rmm_private.turns cache 1000",
  marks,
];

const digest = `create function rmm_private.digest(claim text) returns bigint language sql stable as $$
  select ('x' operator(pg_catalog.||) ${pg("encode")}(${pg("substr")}(${pg("sha256")}(${pg("convert_to")}(claim, 'UTF8')), 1, 8), 'hex'))::pg_catalog.bit(64)::pg_catalog.int8
$$`;

const open = `create function public.rmm_open_connection(out database text, out pid integer, out turn bigint) ${definer} as $$
begin
  perform ${pg("setval('rmm_private.scope_mark', 0)")}, ${pg("setval('rmm_private.system_mark', 0)")},
    ${pg("set_config('rmm.scope', 'none', false)")};
  database := ${pg("current_database()")};
  pid := ${pg("pg_backend_pid()")};
  turn := ${pg("nextval('rmm_private.turns')")};
end $$`;

/** HMAC-SHA-256 from what every Postgres has. */
const enter = `create function public.rmm_enter(wanted text, key text, signature bytea) returns bigint ${definer} as $$
declare
  given bigint := ${pg("currval('rmm_private.turns')")};
  following bigint := ${pg("nextval('rmm_private.turns')")};
  message bytea;
  claim text := 'none';
begin
  if not wanted ${eq} 'none' then
    message := ${pg("convert_to")}(${pg("concat_ws")}(' ', 'rmm-scope', wanted, ${pg("pg_backend_pid()")}, given, ${pg("current_database()")}), 'UTF8');
    perform from rmm_private.scope_keys k where k.id ${eq} key and signature ${eq}
      ${pg("sha256")}(k.outer_pad operator(pg_catalog.||) ${pg("sha256")}(k.inner_pad operator(pg_catalog.||) message));
    if not found then ${refuse("the scope is not signed by the server, for this connection and this turn")} end if;
    claim := ${pg("concat_ws")}(' ', wanted, ${now("clock_timestamp()")} operator(pg_catalog.+) ${LIFETIME});
  end if;
  if wanted ${eq} 'system' then
    claim := ${pg("concat_ws")}(' ', claim, ${pg("pg_current_xact_id()")});
    perform ${pg(`set_config('rmm.lifted_from', ${claim}, true)`)},
      ${pg("setval('rmm_private.system_mark', rmm_private.digest(claim))")}, ${pg("set_config('rmm.scope', claim, true)")};
  else
    perform ${pg("setval('rmm_private.scope_mark', rmm_private.digest(claim))")}, ${pg("set_config('rmm.scope', claim, false)")};
  end if;
  return following;
end $$`;

/** Back from \`system\` within its transaction. Nothing is gained by it, so nothing is signed. */
const leave = `create function public.rmm_leave() returns void ${definer} as $$
begin
  perform ${pg("setval('rmm_private.system_mark', 0)")},
    ${pg(`set_config('rmm.scope', ${pg("current_setting('rmm.lifted_from', true)")}, true)`)};
end $$`;

const holds = `create function public.rmm_scope_holds() returns boolean ${definer} stable parallel restricted as $$
declare
  claim text := ${claim};
  ends bigint := nullif(${pg("split_part")}(claim, ' ', 2), '')::pg_catalog.int8 operator(pg_catalog.-) ${now("statement_timestamp()")};
begin
  if ends operator(pg_catalog.<) 0 or ends operator(pg_catalog.>) ${ENDS_WITHIN} then null;
  elsif claim operator(pg_catalog.~~) 'system %' then
    if ${pg("split_part")}(claim, ' ', 3) ${eq} ${pg("pg_current_xact_id_if_assigned()")}::pg_catalog.text
      and ${pg("currval('rmm_private.system_mark')")} ${eq} rmm_private.digest(claim) then return true; end if;
  elsif ends is not null and ${pg("currval('rmm_private.scope_mark')")} ${eq} rmm_private.digest(claim) then return true; end if;
  ${refuse("the scope of this connection was not set by the server, or has ended")}
end $$`;

const knows = `create function public.rmm_knows_key(key text) returns boolean ${definer} as $$
begin
  return exists (select from rmm_private.scope_keys k where k.id ${eq} key);
end $$`;

/** A claim costs its check only where it is made: most policies ask for two kinds of scope that a caller does not have. */
const claimed = (name: string, prefix: string) => `create or replace function ${name}() returns uuid language sql stable
parallel restricted as $$
  select case when ${claim} operator(pg_catalog.~~) '${prefix}%' then
    case when public.rmm_scope_holds() then ${pg("substr")}(${claim}, ${prefix.length + 1}, 36)::pg_catalog.uuid end end
$$`;

/** For the policy of organizations, which may not ask its own table: an organization stays with its partner. */
const partnerOfOrg = `create function public.rmm_partner_of_org() returns uuid ${definer} stable as $$
begin
  return (select o.partner_id from public.organizations o where o.id ${eq} public.rmm_org());
end $$`;

const postgres = [
  ...tables,
  digest,
  open,
  enter,
  leave,
  holds,
  knows,
  `create or replace function rmm_is_system() returns boolean language sql stable parallel restricted as $$
  select case when ${claim} operator(pg_catalog.~~) 'system%' then public.rmm_scope_holds() else false end
$$`,
  claimed("rmm_partner", "partner:"),
  claimed("rmm_org", "org:"),
  partnerOfOrg,
  "revoke all on function rmm_private.digest(text) from public",
  ...[
    "rmm_open_connection()",
    "rmm_enter(text, text, bytea)",
    "rmm_leave()",
    "rmm_scope_holds()",
    "rmm_knows_key(text)",
    "rmm_partner_of_org()",
  ].flatMap((name) => [
    `revoke all on function public.${name} from public`,
    `grant execute on function public.${name} to rmm_app`,
  ]),
];
