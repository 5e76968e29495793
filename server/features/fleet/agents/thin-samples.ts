import type { Insertable, Kysely, Selectable } from "kysely";
import { asSystem } from "#server/db/as-system";
import { chunks } from "#server/db/chunks";
import type { Database } from "#server/db/tables";
import type { DeviceMetricHoursTable, DeviceMetricsTable } from "#server/db/tables/fleet";
import type { OwnedDevice } from "#server/features/fleet/devices/each-device";
import { after, DAY, HOUR } from "#server/platform/clock";
import type { Services } from "#server/services";

const SAMPLES_KEPT_MS = 30 * DAY;
const HOURS_KEPT_MS = 400 * DAY;

const PAGE = 1_000;

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
  for await (const device of eachSeries(db, "deviceMetrics")) thinned += await thinDevice(db, device, before);
  const hoursBefore = after(now, -HOURS_KEPT_MS);
  for await (const device of eachSeries(db, "deviceMetricHours")) await dropHours(db, device, hoursBefore);
  return thinned;
}

/** Each device with the organization it reported in, which it may have left; one look into the primary key for each. */
async function* eachSeries(
  db: Kysely<Database>,
  table: "deviceMetrics" | "deviceMetricHours",
): AsyncGenerator<OwnedDevice> {
  const first = db
    .selectFrom(table as "deviceMetrics")
    .select(["orgId", "deviceId"])
    .orderBy("orgId")
    .orderBy("deviceId");
  for (let found = await first.limit(1).executeTakeFirst(); found !== undefined; ) {
    const { orgId, deviceId } = found;
    yield { orgId, id: deviceId };
    found = await first
      .where((eb) => eb(eb.refTuple("orgId", "deviceId"), ">", eb.tuple(orgId, deviceId)))
      .limit(1)
      .executeTakeFirst();
  }
}

async function thinDevice(db: Kysely<Database>, device: OwnedDevice, before: string): Promise<number> {
  let thinned = 0;
  for (let end = ""; end !== before; ) {
    const oldest = await oldestHours(db, device, before);
    ({ end } = oldest);
    if (oldest.hours.size > 0) await replaceByMeans(db, device, oldest);
    for (const { samples } of oldest.hours.values()) thinned += samples;
  }
  return thinned;
}

interface WholeHours {
  readonly hours: Map<string, HourSums>;
  /** Where they end. */
  readonly end: string;
}

/** The oldest whole hours: one at least, however many samples a device gave it. */
async function oldestHours(db: Kysely<Database>, { id, orgId }: OwnedDevice, before: string): Promise<WholeHours> {
  const hours = new Map<string, HourSums>();
  for (let last: string | undefined; ; ) {
    let page = db
      .selectFrom("deviceMetrics")
      .selectAll()
      .where("orgId", "=", orgId)
      .where("deviceId", "=", id)
      .where("timestamp", "<", before)
      .orderBy("timestamp")
      .limit(PAGE);
    if (last !== undefined) page = page.where("timestamp", ">", last);
    const samples: Sample[] = await page.execute();
    for (const sample of samples) {
      const hour = hourOf(sample.timestamp);
      const sums = hours.get(hour) ?? new HourSums();
      hours.set(hour, sums);
      sums.add(sample);
    }
    last = samples.at(-1)?.timestamp;
    if (last === undefined || samples.length < PAGE) return { hours, end: before };
    // The last hour of a full page may go on in the next one.
    const end = hourOf(last);
    if (hours.size > 1 && hours.delete(end)) return { hours, end };
  }
}

type Sample = Selectable<DeviceMetricsTable>;

async function replaceByMeans(
  db: Kysely<Database>,
  { id: deviceId, orgId }: OwnedDevice,
  { hours, end }: WholeHours,
): Promise<void> {
  const rows = [...hours].map(([hour, sums]) => ({ orgId, deviceId, hour, ...sums.means() }));
  await db.transaction().execute(async (tx) => {
    for (const some of chunks(rows)) {
      const means = tx.insertInto("deviceMetricHours").values(some);
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

async function dropHours(db: Kysely<Database>, { id, orgId }: OwnedDevice, before: string): Promise<void> {
  await db
    .deleteFrom("deviceMetricHours")
    .where("orgId", "=", orgId)
    .where("deviceId", "=", id)
    .where("hour", "<", before)
    .execute();
}

const percents = ["cpuPercent", "ramPercent", "diskPercent"] as const;

/** What the means of one hour are made of: the percents, and every optional number that was reported. */
class HourSums {
  samples = 0;
  readonly #percents = { cpuPercent: 0, ramPercent: 0, diskPercent: 0 };
  readonly #extra = new Map<string, { sum: number; count: number }>();

  add(sample: Sample): void {
    this.samples += 1;
    for (const name of percents) this.#percents[name] += sample[name];
    for (const [key, value] of Object.entries(sample.extra)) {
      if (typeof value !== "number" || !Number.isFinite(value)) continue;
      const { sum, count } = this.#extra.get(key) ?? { sum: 0, count: 0 };
      this.#extra.set(key, { sum: sum + value, count: count + 1 });
    }
  }

  means(): Omit<Insertable<DeviceMetricHoursTable>, "orgId" | "deviceId" | "hour"> {
    const { samples } = this;
    const [cpuPercent, ramPercent, diskPercent] = percents.map((name) => this.#percents[name] / samples) as Triple;
    const extra = Object.fromEntries([...this.#extra].map(([key, { sum, count }]) => [key, sum / count]));
    return { samples, cpuPercent, ramPercent, diskPercent, extra };
  }
}

type Triple = [number, number, number];

const hourOf = (instant: string): string => new Date(Math.floor(Date.parse(instant) / HOUR) * HOUR).toISOString();
