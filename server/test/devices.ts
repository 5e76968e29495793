import type { Insertable } from "kysely";
import { plainDevice } from "#fixtures/nouns/fleet/devices";
import type { Database } from "#server/db/tables";
import type { Behind } from "./harness.ts";

type DeviceFields = Partial<Insertable<Database["devices"]>> & { orgId: string };

/** Rows per statement: SQLite accepts 32,766 parameters. */
const ROWS_MAX = 500;

/** Inserts devices without the API; fields that are not given have defaults. */
export async function makeDevices(server: Behind, rows: readonly DeviceFields[]): Promise<string[]> {
  const { random, clock } = server.services;
  const now = clock.now();
  const full = rows.map((row, index) => ({
    ...plainDevice(now),
    id: random.uuid(),
    siteId: null,
    agentId: random.bytes(32).toString("hex"),
    hostname: `pc-${index}`,
    ...row,
  }));
  for (let from = 0; from < full.length; from += ROWS_MAX) {
    await server.db
      .insertInto("devices")
      .values(full.slice(from, from + ROWS_MAX))
      .execute();
  }
  return full.map((row) => row.id);
}
