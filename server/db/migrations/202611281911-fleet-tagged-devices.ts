import type { SchemaChange } from "../schema-change.ts";

/** Tags are counted over the devices that have any (docs/fleet.md, "Tags"). */
export const migration: SchemaChange = {
  statements: () => ["create index devices_tagged on devices (org_id, status, id) where tags <> '[]'"],
};
