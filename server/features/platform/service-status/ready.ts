import { asSystem } from "#server/db/as-system";
import { missingMigrations } from "#server/db/migration-status";
import type { Call } from "#server/http/call";
import { after, MINUTE, SECOND } from "#server/platform/clock";
import { problem } from "#server/problem";
import type { Services } from "#server/services";

type Check = "ok" | "error";

export interface Readiness {
  readonly database: Check;
  readonly migrations: Check;
  readonly workers: Check;
  readonly audit: Check;
}

const KEPT_MS = 2 * SECOND;
const PATIENCE_MS = 2 * SECOND;
const OVERDUE_MS = 5 * MINUTE;
const LEADERLESS_MS = MINUTE;

/**
 * 200 while this process can do its work, else 503 with the same fields beside the error
 * (docs/platform.md, "Readiness").
 */
export async function ready(call: Pick<Call, "services">) {
  const checks = await readiness(call.services);
  if (Object.values(checks).every((check) => check === "ok")) return { status: "ready" as const, checks };
  throw problem("SERVICE_UNAVAILABLE", { beside: { status: "not_ready", checks }, retryAfterSeconds: 2 });
}

const last = new WeakMap<Services, { atMs: number; checks: Promise<Readiness> }>();

/** Probes come without a credential, so the database is asked at most once in two seconds. */
function readiness(services: Services): Promise<Readiness> {
  const nowMs = services.clock.nowMs();
  const known = last.get(services);
  if (known && nowMs - known.atMs < KEPT_MS) return known.checks;
  const checks = look(services);
  last.set(services, { atMs: nowMs, checks });
  return checks;
}

async function look(services: Services): Promise<Readiness> {
  const [database, migrations, workers, audit] = await Promise.all([
    check(async () => {
      await asSystem(services, "report health").selectFrom("leases").select("name").limit(1).execute();
      return true;
    }),
    check(async () => (await missingMigrations(services)).length === 0),
    check(() => workersRun(services)),
    // Refused requests that wait because the database takes no writes: trying them again shows whether it does by now.
    check(() => services.refusals.flush()),
  ]);
  return { database, migrations, workers, audit };
}

/**
 * Judged by what every process sees: no job is overdue, no audit entry waits for longer, and the lease of the schedules
 * has not run out without a successor. Between two holders there is briefly none, which is not a fault.
 */
async function workersRun(services: Services): Promise<boolean> {
  const db = asSystem(services, "report health");
  const { clock } = services;
  const overdue = await db
    .selectFrom("jobs")
    .select("id")
    .where("status", "=", "queued")
    .where("runAt", "<", after(clock.now(), -OVERDUE_MS))
    .limit(1)
    .executeTakeFirst();
  const leaderless = await db
    .selectFrom("leases")
    .select("name")
    .where("name", "=", "scheduler")
    .where("expiresAt", "<", after(clock.now(), -LEADERLESS_MS))
    .executeTakeFirst();
  const unmoved = await db
    .selectFrom("auditOutbox")
    .select("id")
    .where("createdAt", "<", after(clock.now(), -OVERDUE_MS))
    .limit(1)
    .executeTakeFirst();
  return !overdue && !leaderless && !unmoved;
}

/** A database that does not answer is a failed check, not a probe that hangs. */
async function check(work: () => Promise<boolean>): Promise<Check> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), PATIENCE_MS);
  });
  try {
    return (await Promise.race([work().catch(() => false), late])) ? "ok" : "error";
  } finally {
    clearTimeout(timer);
  }
}
