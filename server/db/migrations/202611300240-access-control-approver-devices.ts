import type { DialectName } from "../dialect/index.ts";
import { type SchemaChange, schemaText } from "../schema-change.ts";

/**
 * Approver devices of people, the challenges that wait for one, and what partners demand of approvals
 * (docs/approver-devices.md). The database itself refuses to make a disabled device count again and to exchange a key.
 */
export const migration: SchemaChange = {
  statements: (dialect) => [...schemaText(tables)(dialect), ...guards[dialect]],
};

const tables = `
create table approver_devices (
  id {uuid} primary key,
  user_id {uuid} not null references users (id) on delete cascade,
  credential_id text not null unique,
  public_key text not null,
  counter {bigint} not null,
  is_backup_eligible {bool} not null,
  is_platform_bound {bool} not null,
  transports {json} not null,
  label text not null,
  created_at {ts} not null,
  last_used_at {ts},
  disabled_at {ts}
) {strict};
create index approver_devices_user on approver_devices (user_id, created_at);

create table approver_registrations (
  session_id {uuid} primary key references sessions (id) on delete cascade,
  user_id {uuid} not null references users (id) on delete cascade,
  challenge_hash text not null unique,
  expires_at {ts} not null
) {strict};
create index approver_registrations_user on approver_registrations (user_id);
create index approver_registrations_expiry on approver_registrations (expires_at);

create table assertion_challenges (
  session_id {uuid} not null references sessions (id) on delete cascade,
  elevation_request_id {uuid} not null,
  user_id {uuid} not null references users (id) on delete cascade,
  challenge_hash text not null unique,
  expires_at {ts} not null,
  primary key (session_id, elevation_request_id)
) {strict};
create index assertion_challenges_user on assertion_challenges (user_id);
create index assertion_challenges_expiry on assertion_challenges (expires_at);

create table authenticator_policies (
  partner_id {uuid} primary key references partners (id),
  floor_overrides {json} not null,
  require_enrollment {bool} not null,
  enforce_from {ts},
  updated_at {ts} not null
) {strict};
`;

const KEPT = "an approver device keeps its key, and once disabled it stays so";
const exchanged =
  "before update of id, user_id, credential_id, public_key, is_backup_eligible, created_at on approver_devices";
const enabled = "before update of disabled_at on approver_devices";
const again = "when (old.disabled_at is not null)";

const guards: Record<DialectName, string[]> = {
  sqlite: [
    `create trigger approver_devices_kept ${exchanged} begin select raise(abort, '${KEPT}'); end`,
    `create trigger approver_devices_disabled ${enabled} ${again} begin select raise(abort, '${KEPT}'); end`,
  ],
  postgres: [
    `create function public.rmm_keep_approver_devices() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin raise exception '${KEPT}' using errcode = '42501'; end $$`,
    `create trigger approver_devices_kept ${exchanged} for each row execute function public.rmm_keep_approver_devices()`,
    `create trigger approver_devices_disabled ${enabled} for each row ${again} execute function public.rmm_keep_approver_devices()`,
    ...["kept", "disabled"].map(
      (name) => `alter table public.approver_devices enable always trigger approver_devices_${name}`,
    ),
  ],
};
