import type { DialectName } from "../dialect/index.ts";
import { type SchemaChange, schemaText } from "../schema-change.ts";

/**
 * Requests for elevated rights and their ledger (docs/elevation-requests.md). The database itself refuses to change what
 * somebody decides on, to leave a status that is final, and to take a row or a line of the ledger away.
 */
export const migration: SchemaChange = {
  statements: (dialect) => [...schemaText(tables)(dialect), ...guards[dialect], ...marks[dialect]],
};

const tables = `
create table elevation_requests (
  id {uuid} primary key,
  org_id {uuid} not null references organizations (id),
  device_id {uuid},
  device_hostname text,
  flow_type text not null,
  status text not null,
  subject_username text not null,
  subject_user_id {uuid},
  reason text,
  target_executable_path text,
  target_executable_hash text,
  target_executable_signer text,
  target_executable_signer_thumbprint text,
  parent_image text,
  command_line text,
  requested_by_name text,
  requested_duration_minutes {int},
  requested_at {ts} not null,
  tool_name text,
  risk_tier {int},
  action_digest text,
  tool_input {json},
  tool_targets {json},
  script_name text,
  script_sha256 text,
  report_digest text,
  approved_at {ts},
  approved_by {uuid},
  approved_by_name text,
  denied_by {uuid},
  denied_by_name text,
  denial_reason text,
  expires_at {ts},
  expired_at {ts},
  revoked_at {ts},
  revoked_by {uuid},
  revoked_by_name text,
  revoked_reason text,
  matched_policy_name text,
  pam_rule_id {uuid},
  pam_rule_name text,
  decision_source text,
  decided_assurance_level {int},
  decided_via text,
  enforcement_status text not null,
  enforcement_error text,
  cleanup_device_id {uuid},
  cleanup_tries {int} not null,
  announced_at {ts},
  unique (org_id, id),
  foreign key (org_id, device_id) references devices (org_id, id),
  check (flow_type in ('uac_intercept', 'tech_jit_admin', 'ai_tool_action')),
  check (status in ('pending', 'approved', 'auto_approved', 'denied', 'expired', 'revoked', 'actuating')),
  check (status not in ('approved', 'auto_approved', 'actuating') or (approved_at is not null and expires_at is not null)),
  check (risk_tier between 0 and 4)
) {strict};
create index elevation_requests_newest on elevation_requests (org_id, requested_at, id);
create index elevation_requests_device on elevation_requests (org_id, device_id, requested_at, id);
create index elevation_requests_active on elevation_requests (org_id, approved_at, id)
  where status in ('approved', 'auto_approved', 'actuating');
create index elevation_requests_waiting on elevation_requests (requested_at) where status = 'pending';
create index elevation_requests_windows on elevation_requests (expires_at)
  where status in ('approved', 'auto_approved', 'actuating');
create index elevation_requests_cleanup on elevation_requests (cleanup_device_id)
  where enforcement_status = 'cleanup_pending';
create index elevation_requests_unannounced on elevation_requests (device_id)
  where status = 'pending' and announced_at is null;
create unique index elevation_requests_asked on elevation_requests (device_id, subject_user_id)
  where status = 'pending' and flow_type = 'tech_jit_admin';

create table elevation_audit (
  id {uuid} primary key,
  org_id {uuid} not null,
  elevation_request_id {uuid} not null,
  position {int} not null,
  event text not null,
  at {ts} not null,
  actor_type text not null,
  actor_id {uuid},
  actor_name text,
  facts {json} not null,
  unique (org_id, elevation_request_id, position),
  foreign key (org_id, elevation_request_id) references elevation_requests (org_id, id)
) {strict};

create index notifications_unread_link on notifications (link) where link is not null and read_at is null;

create table elevation_server_devices (
  device_id {uuid} primary key,
  until {ts} not null
) {strict};
`;

const decidedOn = [
  "device_hostname, flow_type, subject_username, subject_user_id, reason, target_executable_path, target_executable_hash",
  "target_executable_signer, target_executable_signer_thumbprint, parent_image, command_line, requested_by_name",
  "requested_duration_minutes, requested_at, tool_name, action_digest, tool_input, tool_targets, script_name, script_sha256",
  "report_digest",
].join(", ");

const leavesEnd = "old.status in ('denied', 'expired', 'revoked') and new.status <> old.status";
/** A device is left, never exchanged. */
const otherDevice = "new.device_id is not null and (old.device_id is null or new.device_id <> old.device_id)";
const KEPT = "what was asked, decided and recorded of an elevation is kept as it is";

/** Trigger by its name, with when it refuses. */
const refusals = (dialect: DialectName): readonly (readonly [name: string, when: string])[] => {
  const row = dialect === "postgres" ? "for each row " : "";
  return [
    ["elevation_requests_kept", `before update of ${decidedOn} on elevation_requests ${row}`],
    ["elevation_requests_final", `before update of status on elevation_requests ${row}when (${leavesEnd})`],
    ["elevation_requests_device", `before update of device_id on elevation_requests ${row}when (${otherDevice})`],
    ["elevation_requests_no_delete", `before delete on elevation_requests ${row}`],
    ["elevation_audit_no_update", `before update on elevation_audit ${row}`],
    ["elevation_audit_no_delete", `before delete on elevation_audit ${row}`],
  ];
};

const guards: Record<DialectName, string[]> = {
  sqlite: refusals("sqlite").map(
    ([name, when]) => `create trigger ${name} ${when} begin select raise(abort, '${KEPT}'); end`,
  ),
  postgres: [
    `create function public.rmm_keep_elevations() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin raise exception '${KEPT}' using errcode = '42501'; end $$`,
    ...refusals("postgres").flatMap(([name, when]) => {
      const table = name.startsWith("elevation_audit") ? "elevation_audit" : "elevation_requests";
      return [
        `create trigger ${name} ${when} execute function public.rmm_keep_elevations()`,
        `alter table public.${table} enable always trigger ${name}`,
      ];
    }),
  ],
};

/** Until when a device was a server: who turns it into a workstation does not lower the risk of its requests at once. */
const server = (row: "old" | "new") => `(${row}.device_role = 'server' or lower(${row}.os_version) like '%server%')`;
const ceases = `after update of device_role, os_version on devices`;
const note = `insert into public_.elevation_server_devices (device_id, until) values (new.id, new.updated_at)
    on conflict (device_id) do update set until = excluded.until`;

const marks: Record<DialectName, string[]> = {
  sqlite: [
    `create trigger elevation_server_ceased ${ceases} when ${server("old")} and not ${server("new")}
  begin ${note.replace("public_.", "")}; end`,
  ],
  postgres: [
    `create function public.rmm_note_server_ceased() returns trigger language plpgsql security definer
  set search_path = pg_catalog, pg_temp as $$
begin
  ${note.replace("public_.", "public.")};
  return null;
end $$`,
    "revoke all on function public.rmm_note_server_ceased() from public",
    `create trigger elevation_server_ceased ${ceases} for each row
  when (${server("old")} and not ${server("new")}) execute function public.rmm_note_server_ceased()`,
    "alter table public.devices enable always trigger elevation_server_ceased",
  ],
};
