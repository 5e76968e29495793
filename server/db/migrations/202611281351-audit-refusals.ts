import { type SchemaChange, schemaText } from "../schema-change.ts";

const table = schemaText(`
create table audit_refusals (
  key text primary key,
  kind text not null,
  count {int} not null,
  last_at {ts} not null,
  ends_at {ts} not null,
  template text not null
) {strict};
create index audit_refusals_end on audit_refusals (ends_at);
`);

/** Recording refusals is the installation's own work. */
const rights = [
  "revoke all on public.audit_refusals from rmm_app",
  "grant select, insert, update, delete on public.audit_refusals to rmm_system",
];

/** Refused requests that are counted instead of recorded one by one (docs/audit.md, "Repeated refusals"). */
export const migration: SchemaChange = {
  statements: (dialect) => [...table(dialect), ...(dialect === "postgres" ? rights : [])],
};
