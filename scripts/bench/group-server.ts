import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { seedTenant } from "#fixtures/world";
import { readConfig } from "#server/config";
import { sweepGroups } from "#server/features/fleet/device-groups/sweep-groups";
import { startServer } from "#server/main";
import { seedAgents } from "./seed-agents.ts";
import { seedFilterFacts } from "./seed-filters.ts";
import { seedFleet } from "./seed-fleet.ts";
import { seedGroups } from "./seed-groups.ts";

/**
 * A server without schedules, one organization, its devices and dynamic groups, which hold none yet. SIGUSR2 sweeps them,
 * SIGHUP empties them; each is answered by a line. argv: url devices groups
 */
const [url, devices, groups] = process.argv.slice(2);
/** So many that none meets its limit of requests a minute. */
const AGENTS = 1_000;
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
const orgId = orgIds[0] as string;
await seedFilterFacts(db, services);

await seedGroups(db, services, orgId, Number(groups));
const { siteId } = await db.selectFrom("devices").select("siteId").where("orgId", "=", orgId).executeTakeFirstOrThrow();
const agents = await seedAgents(db, services, { orgId, siteId: siteId as string }, { count: AGENTS, commands: 0 });

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
/** The next sweep writes all memberships. */
async function clear(): Promise<{ cleared: number }> {
  const ids = await db.selectFrom("deviceGroups").select("id").execute();
  for (const table of ["deviceGroupMembers", "deviceGroupLog"] as const)
    for (const { id } of ids) await db.deleteFrom(table).where("groupId", "=", id).execute();
  return { cleared: ids.length };
}

const answer = (what: object) => process.stdout.write(`${JSON.stringify(what)}\n`);
process.on("SIGUSR2", () => void sweep().then(answer));
process.on("SIGHUP", () => void clear().then(answer));
process.on("SIGTERM", () => void server.stop().then(() => process.exit(0)));
answer({ url: server.url, path: "", agents });
