import type { Insertable, Kysely, Selectable } from "kysely";
import { asSystem } from "#server/db/as-system";
import { chunks } from "#server/db/chunks";
import type { Database } from "#server/db/tables";
import type { DeviceMetricHoursTable, DeviceMetricsTable } from "#server/db/tables/fleet";
import { after, DAY, HOUR } from "#server/platform/clock";
import type { Services } from "#server/services";

const SAMPLES_KEPT_MS = 30 * DAY;
const HOURS_KEPT_MS = 400 * DAY;

/** More than a device can send in an hour, so that a batch holds at least one whole hour. */
const BATCH = 5_000;

interface Device {
  id: string;
  orgId: string;
}

/**
 * Samples become the means of their hour after 30 days, which are dropped after 400 (docs/fleet.md, "Samples"). One
 * transaction a device and batch: what is deleted is in its mean, or neither happens. Returns how many samples went.
 */
export async function thinSamples(services: Services): Promise<number> {
  const db = asSystem(services, "purge expired");
  const now = services.clock.now();
  // Whole hours alone: a mean is made once, of all its samples.
  const before = hourOf(after(now, -SAMPLES_KEPT_MS));
  let thinned = 0;
  for (let last: string | undefined = ""; last !== undefined; ) {
    let page = db.selectFrom("devices").select(["id", "orgId"]).orderBy("id").limit(500);
    if (last !== "") page = page.where("id", ">", last);
    const devices: Device[] = await page.execute();
    for (const device of devices) {
      thinned += await thinDevice(db, device, before);
      await dropHours(db, device, after(now, -HOURS_KEPT_MS));
    }
    last = devices.at(-1)?.id;
  }
  return thinned;
}

async function thinDevice(db: Kysely<Database>, device: Device, before: string): Promise<number> {
  let thinned = 0;
  for (;;) {
    const batch = await db
      .selectFrom("deviceMetrics")
      .selectAll()
      .where("orgId", "=", device.orgId)
      .where("deviceId", "=", device.id)
      .where("timestamp", "<", before)
      .orderBy("timestamp")
      .limit(BATCH)
      .execute();
    const isLast = batch.length < BATCH;
    // The last hour of a full batch may go on in the next one.
    const end = isLast ? before : hourOf((batch.at(-1) as Sample).timestamp);
    const samples = batch.filter(({ timestamp }) => timestamp < end);
    if (samples.length > 0) await replaceByMeans(db, device, { samples, end });
    thinned += samples.length;
    if (isLast || samples.length === 0) return thinned;
  }
}

type Sample = Selectable<DeviceMetricsTable>;

async function replaceByMeans(
  db: Kysely<Database>,
  { id: deviceId, orgId }: Device,
  { samples, end }: { samples: readonly Sample[]; end: string },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    for (const hours of chunks(meansOf(samples))) {
      const means = tx.insertInto("deviceMetricHours").values(hours);
      await means.onConflict((conflict) => conflict.columns(["orgId", "deviceId", "hour"]).doNothing()).execute();
    }
    await tx
      .deleteFrom("deviceMetrics")
      .where("orgId", "=", orgId)
      .where("deviceId", "=", deviceId)
      .where("timestamp", "<", end)
      .execute();
  });
}

async function dropHours(db: Kysely<Database>, { id, orgId }: Device, before: string): Promise<void> {
  await db
    .deleteFrom("deviceMetricHours")
    .where("orgId", "=", orgId)
    .where("deviceId", "=", id)
    .where("hour", "<", before)
    .execute();
}

/** One row an hour: the means of the percents and of every optional number that was reported. */
export function meansOf(samples: readonly Sample[]): Insertable<DeviceMetricHoursTable>[] {
  const hours = new Map<string, Sample[]>();
  for (const sample of samples) {
    const hour = hourOf(sample.timestamp);
    hours.set(hour, [...(hours.get(hour) ?? []), sample]);
  }
  return [...hours].map(([hour, of]) => {
    const { orgId, deviceId } = of[0] as Sample;
    const numbers = new Set(of.flatMap(({ extra }) => Object.keys(extra).filter((key) => isNumber(extra[key]))));
    return {
      orgId,
      deviceId,
      hour,
      samples: of.length,
      cpuPercent: mean(of.map((one) => one.cpuPercent)),
      ramPercent: mean(of.map((one) => one.ramPercent)),
      diskPercent: mean(of.map((one) => one.diskPercent)),
      extra: Object.fromEntries(
        [...numbers].map((key) => [key, mean(of.map(({ extra }) => extra[key]).filter(isNumber))]),
      ),
    };
  });
}

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const hourOf = (instant: string): string => new Date(Math.floor(Date.parse(instant) / HOUR) * HOUR).toISOString();
