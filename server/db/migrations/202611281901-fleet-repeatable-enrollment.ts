import { type SchemaChange, schemaText } from "../schema-change.ts";

/** By what a device that lost the answer to its enrollment gets it again (docs/fleet.md, "Which device enrolls"). */
export const migration: SchemaChange = {
  statements: schemaText(`
alter table devices add column enrollment_proof text;
alter table devices add column enrollment_proof_until {ts};
alter table devices add column enrollment_secret_hash text;
create unique index devices_enrollment_proof on devices (enrollment_proof);
`),
};
