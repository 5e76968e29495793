import type { DialectName } from "../dialect/index.ts";
import { type SchemaChange, schemaText } from "../schema-change.ts";

/**
 * Calls of tools that had to be approved (docs/mcp.md, "Approval"), and who made today's material of a key: that person
 * approves nothing that the key asks for. The database itself holds the order of statuses.
 */
export const migration: SchemaChange = {
  statements: (dialect) => [...schemaText(tables)(dialect), ...guards[dialect]],
};

const tables = `
alter table api_keys add column issued_by {uuid};
update api_keys set issued_by = created_by;

create table tool_executions (
  id {uuid} primary key,
  org_id {uuid} not null,
  elevation_request_id {uuid} not null,
  api_key_id {uuid} not null,
  status text not null,
  claimed_until {ts},
  outcome {json},
  created_at {ts} not null,
  updated_at {ts} not null,
  unique (elevation_request_id),
  foreign key (org_id, elevation_request_id) references elevation_requests (org_id, id),
  check (status in ('pending', 'approved', 'executing', 'completed', 'failed', 'rejected', 'expired')),
  check ((status = 'executing') = (claimed_until is not null)),
  check ((status in ('completed', 'failed')) = (outcome is not null))
) {strict};
create index tool_executions_open on tool_executions (api_key_id)
  where status in ('pending', 'approved', 'executing');
create index tool_executions_claimed on tool_executions (claimed_until) where status = 'executing';
`;

const KEPT = "a call of a tool goes one way, and is kept";
const asked = "org_id, elevation_request_id, api_key_id, created_at";
const allowed = [
  ["pending", ["approved", "rejected", "expired"]],
  ["approved", ["executing", "rejected", "expired"]],
  ["executing", ["completed", "failed"]],
] as const;
const forward = allowed
  .map(([from, to]) => `(old.status = '${from}' and new.status in ('${to.join("', '")}'))`)
  .join(" or ");

const refusals = (dialect: DialectName): readonly (readonly [name: string, when: string])[] => {
  const row = dialect === "postgres" ? "for each row " : "";
  return [
    ["tool_executions_kept", `before update of ${asked} on tool_executions ${row}`],
    ["tool_executions_forward", `before update of status on tool_executions ${row}when (not (${forward}))`],
    ["tool_executions_no_delete", `before delete on tool_executions ${row}`],
  ];
};

const guards: Record<DialectName, string[]> = {
  sqlite: refusals("sqlite").map(
    ([name, when]) => `create trigger ${name} ${when} begin select raise(abort, '${KEPT}'); end`,
  ),
  postgres: [
    `create function public.rmm_keep_tool_executions() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin raise exception '${KEPT}' using errcode = '42501'; end $$`,
    ...refusals("postgres").flatMap(([name, when]) => [
      `create trigger ${name} ${when} execute function public.rmm_keep_tool_executions()`,
      `alter table public.tool_executions enable always trigger ${name}`,
    ]),
  ],
};
