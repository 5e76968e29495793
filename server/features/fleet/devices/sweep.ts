import { asSystem } from "#server/db/as-system";
import { held } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { emitEvents } from "#server/events/emit";
import { after, MINUTE } from "#server/platform/clock";
import type { Services } from "#server/services";
import { lastState } from "./last-state.ts";
import { nameOfDevice } from "./name-of-device.ts";
import { appendAvailability } from "./presence.ts";

const BATCH = 500;
const WATCHDOG_SILENT_MS = 5 * MINUTE;

/**
 * Sets online and updating devices offline that were not heard of for `DEVICE_OFFLINE_THRESHOLD_MINUTES`, each with its
 * availability row (docs/fleet.md, "Device status"). The condition is checked again in the update, so a device that
 * reports at the same moment stays online. Returns how many changed.
 */
export async function markSilentDevicesOffline(services: Services): Promise<number> {
  const before = after(services.clock.now(), -services.config.deviceOfflineThresholdMinutes * MINUTE);
  return inBatches(services, async (tx) => {
    const due = await tx
      .selectFrom("devices")
      .select("id")
      .where("status", "in", ["online", "updating"])
      .where("lastSeenAt", "<", before)
      .limit(BATCH)
      .execute();
    if (due.length === 0) return { found: 0, changed: 0 };
    const gone = await tx
      .updateTable("devices")
      .set({ status: "offline", updatedAt: services.clock.now() })
      .where("id", "in", ids(due))
      .where("status", "in", ["online", "updating"])
      .where("lastSeenAt", "<", before)
      .returning(["id", "orgId", "siteId", "hostname", "displayName", "lastSeenAt"])
      .execute();
    await appendAvailability(tx, services, "offline", gone);
    await emitEvents(tx, services, "device.offline", gone.map(toldOffline));
    return { found: due.length, changed: gone.length };
  });
}

/** Sets watchdogs offline that have not reported for five minutes (docs/fleet.md, "Watchdog"). */
export async function markSilentWatchdogsOffline(services: Services): Promise<number> {
  const changed = await asSystem(services, "sweep devices")
    .updateTable("devices")
    .set({ watchdogStatus: "offline", updatedAt: services.clock.now() })
    .where("watchdogStatus", "in", ["connected", "failover"])
    .where("watchdogSeenAt", "<", after(services.clock.now(), -WATCHDOG_SILENT_MS))
    .executeTakeFirst();
  return Number(changed.numUpdatedRows);
}

/**
 * Ends expired manual maintenance: the device becomes online or offline by its last sign of life
 * (docs/fleet.md, "Device status").
 */
export async function endExpiredMaintenance(services: Services): Promise<number> {
  const { store, clock, config } = services;
  const now = clock.now();
  const alive = after(now, -config.deviceOfflineThresholdMinutes * MINUTE);
  return inBatches(services, async (tx) => {
    const query = tx
      .selectFrom("devices")
      .select(["id", "orgId", "siteId", "hostname", "displayName", "lastSeenAt"])
      .where("status", "=", "maintenance")
      .where("maintenanceUntil", "<=", now)
      .limit(BATCH);
    const due = await held(query, store.dialect).execute();
    for (const state of ["online", "offline"] as const) {
      const here = due.filter((device) => (device.lastSeenAt ?? "") >= alive === (state === "online"));
      if (here.length === 0) continue;
      await tx
        .updateTable("devices")
        .set({ status: state, maintenanceUntil: null, updatedAt: now })
        .where("id", "in", ids(here))
        .execute();
      const changed = await changedFrom(tx, here, state);
      await appendAvailability(tx, services, state, changed);
      if (state === "offline") await emitEvents(tx, services, "device.offline", changed.map(toldOffline));
      else await emitEvents(tx, services, "device.online", changed.map(toldOnline));
    }
    return { found: due.length, changed: due.length };
  });
}

/** Nothing was written down while maintenance hid the status: only a state other than the last one is a change. */
async function changedFrom<D extends { id: string; orgId: string }>(
  tx: Tx,
  devices: readonly D[],
  state: "online" | "offline",
): Promise<D[]> {
  const changed: D[] = [];
  for (const device of devices) {
    if ((await lastState(tx, device)) !== state) changed.push(device);
  }
  return changed;
}

type Swept = Parameters<typeof nameOfDevice>[0] & { orgId: string; siteId: string | null; lastSeenAt: string | null };

const toldOffline = ({ orgId, siteId, lastSeenAt, ...device }: Swept) => ({
  orgId,
  siteId,
  data: { ...nameOfDevice(device), lastSeenAt },
});

const toldOnline = ({ orgId, siteId, ...device }: Swept) => ({
  orgId,
  siteId,
  data: { ...nameOfDevice(device), previousStatus: "maintenance" },
});

const ids = (rows: readonly { id: string }[]) => rows.map((row) => row.id);

interface Batch {
  found: number;
  changed: number;
}

/** Small transactions: a sweep over a large installation holds no lock for long. */
async function inBatches(services: Services, work: (tx: Tx) => Promise<Batch>): Promise<number> {
  let total = 0;
  for (;;) {
    const { found, changed } = await asSystem(services, "sweep devices").transaction().execute(work);
    total += changed;
    if (found < BATCH) return total;
  }
}
