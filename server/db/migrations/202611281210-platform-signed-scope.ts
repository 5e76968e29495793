import type { SchemaChange } from "../schema-change.ts";

/**
 * Postgres: a connection that serves tenants sees what the server signed for it, and nothing else.
 *
 * `rmm.scope` is a setting that anybody may change, so it is only a claim. What counts is the connection's row in
 * `rmm_private`, which no role of the server can reach: the policies believe a claim that equals it. The row changes
 * through `rmm_enter`, which checks an HMAC of the server over the connection and its turn. A turn comes from a
 * sequence, which no rollback winds back, and serves once, so a signature is good for one connection and one use. A
 * scope ends five minutes after the server set it; `system` ends with the transaction it was signed in.
 *
 * The row is found by process and by a secret in a setting: processes' numbers come again, and rows outlive them.
 */
export const migration: SchemaChange = {
  statements: (dialect) => (dialect === "postgres" ? postgres : []),
};

const definer = "language plpgsql security definer set search_path = pg_catalog, pg_temp";
const claim = "pg_catalog.current_setting('rmm.scope', true)";
const ownRow = `c.pid = pg_backend_pid() and c.secret = current_setting('rmm.connection', true)::uuid`;
const refuse = (reason: string) => `raise exception '${reason}' using errcode = '28000';`;

const tables = [
  "create schema rmm_private",
  `create table rmm_private.scope_keys (
  id text primary key,
  inner_pad bytea not null,
  outer_pad bytea not null,
  installed_at timestamptz not null
)`,
  // Unlogged: it is worth nothing once the connections are gone.
  `create unlogged table rmm_private.connections (
  pid integer primary key,
  secret uuid not null,
  scope text not null,
  lifted xid8,
  expires_at timestamptz not null
) with (fillfactor = 50)`,
  // Each connection takes a thousand numbers at once: a number alone would wait for the disk every now and then.
  "create sequence rmm_private.turns cache 1000",
];

/** HMAC-SHA-256 from what every Postgres has. */
const signed = `create function rmm_private.signed(key text, message text, signature bytea) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select coalesce((
    select sha256(k.outer_pad || sha256(k.inner_pad || convert_to(message, 'UTF8'))) = signature
    from rmm_private.scope_keys k where k.id = key), false)
$$`;

const open = `create function public.rmm_open_connection(out database text, out pid integer, out turn bigint) ${definer} as $$
declare own uuid := gen_random_uuid();
begin
  delete from rmm_private.connections c where c.expires_at < now() - interval '1 day';
  insert into rmm_private.connections as c (pid, secret, scope, expires_at)
    values (pg_backend_pid(), own, 'none', now())
    on conflict on constraint connections_pkey do update
      set secret = excluded.secret, scope = excluded.scope, lifted = null, expires_at = excluded.expires_at;
  perform set_config('rmm.connection', own::text, false), set_config('rmm.scope', 'none', false);
  database := current_database();
  pid := pg_backend_pid();
  turn := nextval('rmm_private.turns');
end $$`;

const enter = `create function public.rmm_enter(wanted text, key text, signature bytea) returns bigint ${definer} as $$
declare
  given bigint := currval('rmm_private.turns');
  following bigint := nextval('rmm_private.turns');
begin
  if wanted !~ '^(none|system|(org|partner):[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$' then
    ${refuse("there is no such scope")}
  end if;
  if wanted <> 'none' and not rmm_private.signed(key,
    concat_ws(' ', 'rmm-scope', wanted, pg_backend_pid(), given, current_database()), signature) then
    ${refuse("the scope is not signed by the server, for this connection and this turn")}
  end if;
  if wanted = 'system' then
    update rmm_private.connections c set lifted = pg_current_xact_id(),
      expires_at = clock_timestamp() + interval '5 minutes' where ${ownRow};
  else
    update rmm_private.connections c set scope = wanted, lifted = null,
      expires_at = clock_timestamp() + interval '5 minutes' where ${ownRow};
  end if;
  if not found then ${refuse("the connection is not open for scopes")} end if;
  perform set_config('rmm.scope', wanted, wanted = 'system');
  return following;
end $$`;

/** Back from \`system\` within its transaction. Nothing is gained by it, so nothing is signed. */
const leave = `create function public.rmm_leave() returns void ${definer} as $$
declare own text;
begin
  update rmm_private.connections c set lifted = null where ${ownRow} returning c.scope into own;
  perform set_config('rmm.scope', coalesce(own, 'none'), true);
end $$`;

/** Qualified rather than with a search path of its own: it runs for nearly every statement (measured). */
const holds = `create function public.rmm_scope_holds() returns boolean language plpgsql stable security definer
parallel restricted as $$
begin
  if not exists (select from rmm_private.connections c
    where c.pid operator(pg_catalog.=) pg_catalog.pg_backend_pid()
    and c.secret operator(pg_catalog.=) pg_catalog.current_setting('rmm.connection', true)::pg_catalog.uuid
    and c.expires_at operator(pg_catalog.>) pg_catalog.statement_timestamp()
    and (c.scope operator(pg_catalog.=) ${claim}
      or (${claim} operator(pg_catalog.=) 'system'
        and c.lifted operator(pg_catalog.=) pg_catalog.pg_current_xact_id_if_assigned()))) then
    ${refuse("the scope of this connection was not set by the server, or has ended")}
  end if;
  return true;
end $$`;

const knows = `create function public.rmm_knows_key(key text) returns boolean ${definer} as $$
begin
  return exists (select from rmm_private.scope_keys k where k.id = key);
end $$`;

/** A claim costs its check only where it is made: most policies ask for two kinds of scope that a caller does not have. */
const claimed = (name: string, prefix: string) => `create or replace function ${name}() returns uuid language sql stable
parallel restricted as $$
  select case when ${claim} operator(pg_catalog.~~) '${prefix}%' then
    case when public.rmm_scope_holds() then pg_catalog.substr(${claim}, ${prefix.length + 1})::pg_catalog.uuid end end
$$`;

/** For the policy of organizations, which may not ask its own table: an organization stays with its partner. */
const partnerOfOrg = `create function public.rmm_partner_of_org() returns uuid ${definer} stable as $$
begin
  return (select o.partner_id from public.organizations o where o.id = public.rmm_org());
end $$`;

const postgres = [
  ...tables,
  signed,
  open,
  enter,
  leave,
  holds,
  knows,
  `create or replace function rmm_is_system() returns boolean language sql stable parallel restricted as $$
  select case when ${claim} operator(pg_catalog.=) 'system' then public.rmm_scope_holds() else false end
$$`,
  claimed("rmm_partner", "partner:"),
  claimed("rmm_org", "org:"),
  partnerOfOrg,
  "revoke all on function rmm_private.signed(text, text, bytea) from public",
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
