import type { Tx } from "#server/db/unit-of-work";
import { problem } from "#server/problem";
import { nameOfDevice } from "./name-of-device.ts";

/** Whose the device is, where it stands and how events name it, as of now in this transaction. */
export async function toldOfDevice(tx: Tx, id: string) {
  const device = await tx
    .selectFrom("devices")
    .select(["id", "orgId", "siteId", "hostname", "displayName"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (!device) throw problem("NOT_FOUND");
  const { orgId, siteId } = device;
  return { place: { orgId, siteId }, name: nameOfDevice(device) };
}
