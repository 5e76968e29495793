import { isDeepStrictEqual } from "node:util";
import { patchSeverities } from "#contract/resources/software/patches";
import { chunks } from "#server/db/chunks";
import type { Tx } from "#server/db/unit-of-work";
import { nameOfDevice } from "#server/features/fleet/devices/name-of-device";
import type { Call } from "#server/http/call";
import { type Facts, type Reported, reportedRows } from "./rules.ts";
import { sharePatches, takeNew } from "./share-patches.ts";

interface Device {
  readonly id: string;
  readonly orgId: string;
  readonly siteId: string;
  readonly osType: "windows" | "macos" | "linux";
  readonly hostname: string;
  readonly displayName: string | null;
}

type ReportCall = Pick<Call, "asSystem" | "clock" | "emit" | "services">;

/**
 * Stores what a device, whose row is held, says of its patches; what is stored already is not written. Answers how many
 * were left out because the organization has had too many new ones today (docs/software.md, "Reports of patches").
 */
export async function storeReport(call: ReportCall, tx: Tx, device: Device, reported: Reported): Promise<number> {
  await tx
    .insertInto("devicePatchReports")
    .values({ orgId: device.orgId, deviceId: device.id, firstReportedAt: call.clock.now() })
    .onConflict((conflict) => conflict.columns(["orgId", "deviceId"]).doNothing())
    .execute();
  const stored = await storedOf(tx, device);
  const known = new Map([...stored].map(([id, { facts }]) => [id, facts]));
  const rows = reportedRows(reported, known);
  const added = [...rows].filter(([id]) => !stored.has(id));
  const left = await overLimit(call, tx, { device, ids: added.map(([id]) => id) });
  const { osType } = device;
  const changed = [...rows].filter(
    ([id, { facts }]) => !left.has(id) && !isDeepStrictEqual(stored.get(id), { facts, osType }),
  );
  if (changed.length === 0) return left.size;
  const shared = added.flatMap(([id, { identity, facts }]) =>
    left.has(id) || identity === undefined ? [] : [{ id, source: facts.source, identity }],
  );
  if (shared.length > 0) await call.asSystem("share patches", (all) => sharePatches(all, call.services, shared));
  const now = call.clock.now();
  for (const some of chunks(changed)) await write(tx, { device, now, rows: some.map(([, row]) => row.facts), known });
  tellOfPending(call, device, {
    rows: changed.map(([, { facts }]) => facts),
    known,
  });
  return left.size;
}

async function storedOf(tx: Tx, { id, orgId, siteId }: Device) {
  const rows = await tx
    .selectFrom("devicePatches")
    .selectAll()
    .where("orgId", "=", orgId)
    .where("siteId", "=", siteId)
    .where("deviceId", "=", id)
    .execute();
  return new Map(
    rows.map(({ orgId: _, siteId: __, deviceId: ___, firstSeenAt: ____, statusChangedAt: _____, osType, ...facts }) => [
      facts.patchId,
      { facts: facts as Facts, osType },
    ]),
  );
}

/** Of these ids those that the organization does not have and may not have today. */
async function overLimit(call: ReportCall, tx: Tx, { device, ids }: { device: Device; ids: string[] }) {
  const missing = new Set(ids);
  for (const some of chunks(ids)) {
    const had = await tx
      .selectFrom("devicePatches")
      .select("patchId")
      .distinct()
      .where("orgId", "=", device.orgId)
      .where("patchId", "in", some)
      .execute();
    for (const { patchId } of had) missing.delete(patchId);
  }
  const taken = missing.size === 0 ? 0 : await takeNew(call, device.orgId, missing.size);
  return new Set([...missing].slice(taken));
}

type Write = { device: Device; now: string; rows: readonly Facts[]; known: ReadonlyMap<string, Facts> };

async function write(tx: Tx, { device, now, rows, known }: Write): Promise<void> {
  const { id: deviceId, orgId, siteId, osType } = device;
  // Both parts of the statement: of a row that keeps its status only the facts change.
  for (const keeps of [false, true]) {
    const some = rows.filter(({ patchId, status }) => (known.get(patchId)?.status === status) === keeps);
    if (some.length === 0) continue;
    await tx
      .insertInto("devicePatches")
      .values(
        some.map((facts) => ({ ...facts, orgId, siteId, deviceId, osType, firstSeenAt: now, statusChangedAt: now })),
      )
      .onConflict((conflict) =>
        conflict.columns(["deviceId", "patchId"]).doUpdateSet((eb) => {
          const set = [...columns, ...(keeps ? [] : (["statusChangedAt"] as const))];
          return Object.fromEntries(set.map((column) => [column, eb.ref(`excluded.${column}`)])) as never;
        }),
      )
      .execute();
  }
}

const columns = [
  "status",
  "osType",
  "externalId",
  "packageId",
  "title",
  "titleKey",
  "vendor",
  "installedVersion",
  "availableVersion",
  "severityRank",
  "category",
  "kbNumber",
  "cveIds",
  "requiresRestart",
  "sizeBytes",
  "releaseDate",
  "installedAt",
] as const;

const TOLD_MAX = 20;
const TITLE_MAX = 120;

/** One event a report, however many patches it brings: a fleet's monthly updates come all at once. */
function tellOfPending(call: ReportCall, device: Device, { rows, known }: Pick<Write, "rows" | "known">): void {
  const fresh = rows.filter(({ patchId, status }) => status === "pending" && known.get(patchId)?.status !== "pending");
  if (fresh.length === 0) return;
  const first = fresh.toSorted((a, b) => b.severityRank - a.severityRank || (a.titleKey < b.titleKey ? -1 : 1));
  const patches = first.slice(0, TOLD_MAX).map(({ patchId, title, source, severityRank }) => ({
    patchId,
    title: [...title].slice(0, TITLE_MAX).join(""),
    source,
    severity: patchSeverities[severityRank] as string,
  }));
  const { orgId, siteId } = device;
  call.emit("patch.available", { orgId, siteId, data: { ...nameOfDevice(device), count: fresh.length, patches } });
}
