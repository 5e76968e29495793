import { type SchemaChange, schemaText } from "../schema-change.ts";

/** Which events a consumer could not take, so that they can be handed out again (docs/platform.md, "Events"). */
export const migration: SchemaChange = {
  statements: schemaText(`
create table set_aside_events (
  consumer text not null,
  event_id {uuid} not null,
  set_aside_at {ts} not null,
  primary key (consumer, event_id)
) {strict};
`),
};
