import { type SchemaChange, schemaText } from "../schema-change.ts";

/** Which process runs a request, so that a request whose process is gone can be sent again at once. */
export const migration: SchemaChange = {
  statements: schemaText("alter table idempotency_keys add column process_id text;"),
};
