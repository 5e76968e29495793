import { type SchemaChange, schemaText } from "../schema-change.ts";

/** Which connection of an agent is its newest (docs/agents.md, "One connection"). */
export const migration: SchemaChange = {
  statements: schemaText(`
alter table devices add column connection_id {uuid};
`),
};
