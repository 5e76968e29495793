import { patchSeverities } from "#contract/resources/software/patches";
import { orgsInList } from "#server/access/org-access";
import { stretchOf } from "#server/db/dialect/ordering";
import { containsPattern, matches, word } from "#server/db/dialect/text";
import { getTarget } from "#server/features/fleet/device-commands/get-target";
import type { Call } from "#server/http/call";
import { after, HOUR } from "#server/platform/clock";

/** Rows of a list at most (docs/mcp.md, "Results"). */
export const ROWS_MAX = 100;

const measures = { cpu: "cpuPercent", ram: "ramPercent", disk: "diskPercent" } as const;
const SHORTEST_SECONDS = 300;

interface Measured {
  readonly deviceId: string;
  readonly metric: keyof typeof measures;
  readonly hours: number;
}

/** Means over equal stretches of the time that is asked for, as long as they must be for a list. */
export async function readMetrics(call: Call, { deviceId, metric, hours }: Measured) {
  const device = await getTarget(call, call.db, deviceId);
  const { dialect } = call.services.store;
  const needed = (hours * 3_600) / (ROWS_MAX - 1);
  const seconds = Math.max(1, Math.ceil(needed / SHORTEST_SECONDS)) * SHORTEST_SECONDS;
  const rows = await call.db
    .selectFrom("deviceMetrics")
    .where("orgId", "=", device.orgId)
    .where("deviceId", "=", device.id)
    .where("timestamp", ">", after(call.clock.now(), -hours * HOUR))
    .select((eb) => [eb.fn.avg<number>(measures[metric]).as("mean"), eb.fn.max("timestamp").as("timestamp")])
    .groupBy((eb) => stretchOf(eb.ref("timestamp"), seconds, dialect))
    .orderBy((eb) => eb.fn.max("timestamp"), "desc")
    .limit(ROWS_MAX)
    .execute();
  const points = rows.toReversed().map(({ mean, timestamp }) => ({ timestamp, percent: Math.round(mean * 100) / 100 }));
  return { deviceId, metric, stretchSeconds: seconds, points };
}

/** By name; `total` says how many there are in all. */
export async function readSoftware(
  call: Call,
  { deviceId, search }: { deviceId: string; search?: string | undefined },
) {
  const device = await getTarget(call, call.db, deviceId);
  const pattern = search === undefined ? undefined : containsPattern(search);
  let query = call.db.selectFrom("deviceSoftware").where("orgId", "=", device.orgId).where("deviceId", "=", device.id);
  if (pattern !== undefined)
    query = query.where((eb) => eb.or([matches(eb.ref("name"), pattern), matches(eb.ref("vendor"), pattern)]));
  const [counted, data] = await Promise.all([
    query.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow(),
    query.select(["name", "version", "vendor", "installDate"]).orderBy("name").orderBy("id").limit(ROWS_MAX).execute(),
  ]);
  return { data, total: Number(counted.total) };
}

/** The most severe first, of all devices that lists show or of one. */
export async function readPendingPatches(call: Call, { deviceId }: { deviceId?: string | undefined }) {
  let query = call.db
    .selectFrom("devicePatches")
    .innerJoin("devices", (join) =>
      join.onRef("devices.orgId", "=", "devicePatches.orgId").onRef("devices.id", "=", "devicePatches.deviceId"),
    )
    .where("devicePatches.orgId", "in", orgsInList(undefined))
    .where("devices.status", "<>", word("decommissioned"))
    .where("devicePatches.status", "=", word("pending"));
  if (deviceId !== undefined)
    query = query.where("devicePatches.deviceId", "=", (await getTarget(call, call.db, deviceId)).id);
  const [counted, rows] = await Promise.all([
    query.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow(),
    query
      .select(["devicePatches.deviceId", "devices.hostname", "devicePatches.patchId", "devicePatches.title"])
      .select(["devicePatches.source", "devicePatches.vendor", "devicePatches.severityRank"])
      .select(["devicePatches.installedVersion", "devicePatches.availableVersion", "devicePatches.kbNumber"])
      .select(["devicePatches.cveIds", "devicePatches.requiresRestart", "devicePatches.releaseDate"])
      .orderBy("devicePatches.severityRank", "desc")
      .orderBy("devicePatches.titleKey")
      .orderBy("devicePatches.deviceId")
      .limit(ROWS_MAX)
      .execute(),
  ]);
  const data = rows.map(({ severityRank, ...row }) => ({ ...row, severity: patchSeverities[severityRank] ?? null }));
  return { data, total: Number(counted.total) };
}
