import type { SchemaChange } from "../schema-change.ts";

/**
 * Postgres: a tenant's connection gives no device a token, a proof or a key to enroll with, nor makes one last longer: it
 * would outlive the connection. The server does it with its scope lifted, or as the system. What is taken from a device is
 * everybody's to take who may write it.
 */
export const migration: SchemaChange = {
  statements: (dialect) => (dialect === "postgres" ? postgres : []),
};

const columns = [
  "agent_token_hash",
  "watchdog_token_hash",
  "previous_agent_token_hash",
  "previous_watchdog_token_hash",
  "previous_tokens_expire_at",
  "enrollment_proof",
  "enrollment_proof_until",
  "enrollment_secret_hash",
  "provision_key_hash",
  "provision_key_expires_at",
];
const given = columns.map((column) => `new.${column} is not null`);
const changed = columns.map((column) => `(new.${column} is not null and new.${column} is distinct from old.${column})`);

const triggers = {
  devices_token_given: `before insert on public.devices for each row when (${given.join(" or ")})`,
  devices_token_changed: `before update of ${columns.join(", ")} on public.devices for each row when (${changed.join(" or ")})`,
};

const postgres = [
  `create function public.rmm_tokens_are_the_servers() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if pg_has_role(current_user, 'rmm_system', 'USAGE') or public.rmm_is_system() then return new; end if;
  raise exception 'a device is given tokens by the server alone' using errcode = '42501';
end $$`,
  ...Object.entries(triggers).flatMap(([name, when]) => [
    `create trigger ${name} ${when} execute function public.rmm_tokens_are_the_servers()`,
    `alter table public.devices enable always trigger ${name}`,
  ]),
];
