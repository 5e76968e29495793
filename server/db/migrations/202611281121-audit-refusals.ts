import { type SchemaChange, schemaText } from "../schema-change.ts";

/** Refused requests that are counted instead of recorded one by one (docs/audit.md, "Repeated refusals"). */
export const migration: SchemaChange = {
  name: "202611281121-audit-refusals",
  statements: schemaText(`
create table audit_refusals (
  key text primary key,
  kind text not null,
  count {int} not null,
  last_at {ts} not null,
  ends_at {ts} not null,
  template text not null
) {strict};
create index audit_refusals_end on audit_refusals (ends_at);
`),
};
