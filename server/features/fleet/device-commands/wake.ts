import type { DialectName } from "#server/db/dialect/index";
import { shared } from "#server/db/dialect/locks";
import type { Reader, Tx } from "#server/db/unit-of-work";
import type { Refusal, Target } from "./judge-device.ts";
import { broadcastOf, sameNetwork } from "./subnets.ts";

interface Relay {
  readonly device: Target;
  readonly payload: { readonly macs: string[]; readonly broadcast: string };
}

/** Neighbours that are asked whether they share the network. */
const NEIGHBOURS_MAX = 500;

/** Looks again as often as a neighbour goes away at that moment. */
const TRIES = 3;

/**
 * The relay, held until the commit: a quarantine or a move of it that comes now finds the command and ends it. Shared,
 * so that neighbours that are to wake each other do not wait in a circle.
 */
export async function holdRelay(tx: Tx, sleeping: Target, dialect: DialectName): Promise<Relay | Refusal> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const found = await findRelay(tx, sleeping);
    if ("code" in found) return found;
    const row = tx
      .selectFrom("devices")
      .select("id")
      .where("id", "=", found.device.id)
      .where("orgId", "=", sleeping.orgId)
      .where("siteId", "=", sleeping.siteId)
      .where("status", "=", "online");
    if (await shared(row, dialect).executeTakeFirst()) return found;
  }
  return { code: "NO_RELAY" };
}

/** The online device of the same site that reaches the sleeping one's network, and what it is told (docs/fleet.md, "Waking"). */
async function findRelay(db: Reader, sleeping: Target): Promise<Relay | Refusal> {
  const own = await db
    .selectFrom("deviceInterfaces")
    .select(["macAddress", "ipAddress", "subnetMask"])
    .where("orgId", "=", sleeping.orgId)
    .where("deviceId", "=", sleeping.id)
    .orderBy("id")
    .execute();
  const macs = [...new Set(own.flatMap(({ macAddress }) => macAddress ?? []))];
  if (macs.length === 0) return { code: "NO_MAC" };
  const neighbours = await db
    .selectFrom("devices")
    .innerJoin("deviceInterfaces", (join) =>
      join.onRef("deviceInterfaces.deviceId", "=", "devices.id").onRef("deviceInterfaces.orgId", "=", "devices.orgId"),
    )
    .select(["devices.id", "devices.orgId", "devices.siteId", "devices.hostname", "devices.osType", "devices.status"])
    .select(["devices.agentVersion", "devices.watchdogStatus", "deviceInterfaces.ipAddress"])
    .where("devices.orgId", "=", sleeping.orgId)
    .where("devices.siteId", "=", sleeping.siteId)
    .where("devices.status", "=", "online")
    .where("devices.id", "<>", sleeping.id)
    .where("deviceInterfaces.ipAddress", "is not", null)
    .orderBy("devices.lastSeenAt", "desc")
    .orderBy("devices.id")
    .limit(NEIGHBOURS_MAX)
    .execute();
  for (const { ipAddress: address, subnetMask } of own) {
    if (address === null) continue;
    const near = neighbours.find(({ ipAddress }) => sameNetwork(address, ipAddress as string, subnetMask));
    if (near) {
      const { ipAddress: _, ...device } = near;
      return { device, payload: { macs, broadcast: broadcastOf(address, subnetMask) } };
    }
  }
  return { code: "NO_RELAY" };
}
