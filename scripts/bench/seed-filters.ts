import { type Kysely, sql } from "kysely";
import { chunks } from "#server/db/chunks";
import type { DialectName } from "#server/db/dialect/index";
import type { Database } from "#server/db/tables";
import type { Services } from "#server/services";
import { insertRows } from "./insert-rows.ts";

/** Devices described by a statement. */
const DESCRIBED_MAX = 1_000;
const TITLES = 5_000;
const PROGRAMS = 10;
const tags = Array.from({ length: 200 }, (_, index) => `tag-${index}`);
const known = ["Google Chrome", "Mozilla Firefox", "7-Zip", "Zoom", "Slack", "VLC media player"];

/** What filters ask of devices, in shares that are skewed as those of real fleets: tags, custom values, software, samples. */
export async function seedFilterFacts(
  db: Kysely<Database>,
  { clock, random, store }: Pick<Services, "clock" | "random" | "store">,
): Promise<void> {
  const now = clock.now();
  const devices = await db.selectFrom("devices").select(["id", "orgId"]).orderBy("id").execute();
  const skewed = (index: number, of: number) => Math.floor((((index * 7_919) % 10_007) ** 3 / 10_007 ** 3) * of);
  const described = devices.flatMap(({ id }, index) => {
    if (index % 3 === 0) return [];
    const own = [tags[skewed(index, tags.length)], ...(index % 500 === 1 ? ["vip"] : [])];
    return [{ id, tags: own, custom: { cost: index % 2_000, location: ["Denver", "Austin", "Oslo"][index % 3] } }];
  });
  for (const some of chunks(described, DESCRIBED_MAX)) await describe(db, store.dialect, JSON.stringify(some));
  const of = (index: number) => devices[index % devices.length] as (typeof devices)[number];
  const fill = (table: keyof Database, count: number, row: (index: number) => object) =>
    insertRows(db, store.dialect, table, count, row);
  const mine = (index: number) => ({ orgId: of(index).orgId, deviceId: of(index).id });
  const reports = (index: number) => ({ ...mine(index), firstReportedAt: now });
  await db.transaction().execute(async (tx) => {
    // Each report is noted at its device, and the server's own work writes to many devices at once as well.
    if (store.dialect === "postgres") await sql`lock table devices in share row exclusive mode`.execute(tx);
    await insertRows(tx, store.dialect, "deviceSoftwareReports", devices.length, reports);
  });
  await fill("deviceMetrics", devices.length, (index) => ({
    ...{ ...mine(index), timestamp: now, extra: {} },
    ...{ cpuPercent: (index * 31) % 101, ramPercent: (index * 17) % 101, diskPercent: (index * 13) % 101 },
  }));
  await fill("deviceSoftware", devices.length * PROGRAMS, (index) => {
    const at = (skewed(index, TITLES) + Math.floor(index / devices.length) * 37) % TITLES;
    const name = known[at] ?? `Vendor ${at % 300} Product ${at}`;
    return {
      ...{ id: random.uuid(), ...mine(index), name, version: "1.0", vendor: null, installDate: null },
      ...{ installLocation: null, uninstallString: null },
    };
  });
  if (store.dialect === "sqlite") await sql`analyze`.execute(db);
}

/** One statement for many devices: Postgres would take minutes for one each. */
async function describe(db: Kysely<Database>, dialect: DialectName, devices: string): Promise<void> {
  const each =
    dialect === "postgres"
      ? sql`select * from jsonb_to_recordset(${devices}::jsonb) as item(id uuid, tags jsonb, custom jsonb)`
      : sql`select value ->> 'id' as id, value -> 'tags' as tags, value -> 'custom' as custom from json_each(${devices})`;
  await sql`update devices set tags = each.tags, custom_fields = each.custom
    from (${each}) as each where devices.id = each.id`.execute(db);
}
