import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { FilterGroup } from "#contract/core/filters/condition";
import { seedTenant } from "#fixtures/world";
import { readConfig } from "#server/config";
import { storedRule } from "#server/features/fleet/device-groups/rule";
import { sweepGroups } from "#server/features/fleet/device-groups/sweep-groups";
import { startServer } from "#server/main";
import { seedFilterFacts } from "./seed-filters.ts";
import { seedFleet } from "./seed-fleet.ts";

/** A server without schedules, one organization, its devices and dynamic groups; each signal sweeps them. argv: url devices groups */
const [url, devices, groups] = process.argv.slice(2);
const secret = randomBytes(32).toString("hex");
const config = readConfig({
  NODE_ENV: "production",
  JWT_SECRET: secret,
  SECRET_ENCRYPTION_KEY: secret,
  PORT: "0",
  RMM_DATA_DIR: mkdtempSync(join(tmpdir(), "rmm-bench-")),
  ...(url ? { DATABASE_URL: url } : {}),
});
const server = await startServer({ config, background: false });
const { services } = server;
const db = services.store.connection("system");
const tenant = await seedTenant(db, services, "bench");
const size = { organizations: 1, devices: Number(devices), entries: 0 };
const { orgIds } = await seedFleet(db, services, tenant.partnerId, size);
await seedFilterFacts(db, services);

const all = (...parts: readonly (readonly [string, string, unknown])[]): FilterGroup => ({
  operator: "AND",
  conditions: parts.map(([field, operator, value]) => ({ field, operator, value }) as never),
});
/** Everybody once; then common and rare tags, names, load, titles, and who was seen lately. */
function rule(at: number): FilterGroup {
  if (at === 0) return all(["osType", "in", ["windows", "macos", "linux"]]);
  const kinds = [
    all(["tags", "hasAny", [`tag-${at % 200}`]]),
    all(
      ["hostname", "startsWith", `PC-${((at * 7) % 900) + 100}`],
      ["lastSeenAt", "withinLast", { amount: 30, unit: "days" }],
    ),
    all(["metrics.cpuPercent", "greaterThan", 97]),
    all(["software.installed", "contains", `product ${1_000 + at * 7}`], ["status", "equals", "online"]),
    all(["osType", "equals", "linux"], ["daysSinceLastSeen", "lessThan", 0.1]),
  ];
  return kinds[at % kinds.length] as FilterGroup;
}
const now = services.clock.now();
for (let at = 0; at < Number(groups); at += 1)
  await db
    .insertInto("deviceGroups")
    .values({
      ...{ id: services.random.uuid(), orgId: orgIds[0] as string, siteId: null, parentId: null },
      ...{ name: `Group ${at}`, nameKey: `group ${at}`, description: null, type: "dynamic", ...storedRule(rule(at)) },
      ...{ filterVersion: 1, lastEvaluatedAt: null, attemptedAt: null, lastEvaluationError: null },
      ...{ createdBy: null, createdAt: now, updatedAt: now },
    })
    .execute();

/** What watches the event loop wakes so often itself. */
const RESOLUTION_MS = 5;
async function sweep(): Promise<{ seconds: number; heldMs: number }> {
  await db.updateTable("deviceGroups").set({ attemptedAt: null }).execute();
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  const beganMs = performance.now();
  await sweepGroups(services);
  const seconds = (performance.now() - beganMs) / 1_000;
  delays.disable();
  return { seconds, heldMs: Math.max(0, delays.max / 1e6 - RESOLUTION_MS) };
}
process.stdout.write(`${JSON.stringify({ url: server.url, path: "", first: await sweep() })}\n`);
process.on("SIGUSR2", () => void sweep().then((swept) => process.stdout.write(`${JSON.stringify(swept)}\n`)));
process.on("SIGTERM", () => void server.stop().then(() => process.exit(0)));
