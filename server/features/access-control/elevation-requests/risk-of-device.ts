import type { Reader } from "#server/db/unit-of-work";
import { after } from "#server/platform/clock";
import { isServer, SERVER_MS, tierOfAccount } from "./rules.ts";

/**
 * The tier of rights for an account on this device: the highest where it is a server, or was one within a day, so that
 * nobody lowers it by giving the device another role first. Needs an unscoped handle.
 */
export async function tierOnDevice(
  db: Reader,
  device: { id: string; deviceRole: string; osVersion: string },
  now: string,
): Promise<number> {
  if (isServer(device)) return tierOfAccount(true);
  const was = await db
    .selectFrom("elevationServerDevices")
    .select("deviceId")
    .where("deviceId", "=", device.id)
    .where("until", ">", after(now, -SERVER_MS))
    .executeTakeFirst();
  return tierOfAccount(was !== undefined);
}
