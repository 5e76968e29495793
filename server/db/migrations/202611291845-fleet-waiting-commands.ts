import type { SchemaChange } from "../schema-change.ts";

/** An agent that claims meets what waits for it, however many commands it has had (docs/fleet.md, "Claiming commands"). */
export const migration: SchemaChange = {
  statements: () => [
    `create index device_commands_waiting on device_commands (org_id, device_id, target_role, queued_at, id, expires_at)
      where status = 'pending'`,
  ],
};
