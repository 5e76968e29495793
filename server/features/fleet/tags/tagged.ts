import type { Kysely } from "kysely";
import { isFilled } from "#server/db/dialect/json";
import { word } from "#server/db/dialect/text";
import type { Database } from "#server/db/tables";

/** Devices that carry tags and are in use: an index holds them alone (migration "fleet tagged devices"). */
export const taggedDevices = (db: Pick<Kysely<Database>, "selectFrom">) =>
  db
    .selectFrom("devices")
    .where((eb) => isFilled(eb.ref("devices.tags")))
    .where("devices.status", "<>", word("decommissioned"));
