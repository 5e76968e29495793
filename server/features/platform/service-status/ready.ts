import { asSystem } from "#server/db/as-system";
import { missingMigrations } from "#server/db/migration-status";
import { probeTenants } from "#server/db/probe-tenants";
import { troubleOf } from "#server/db/trouble";
import type { Call } from "#server/http/call";
import { probeWrites } from "#server/jobs/probe-writes";
import { SECOND } from "#server/platform/clock";
import { problem } from "#server/problem";
import type { Services } from "#server/services";
import { idleWorkers } from "./idle-workers.ts";

const names = ["database", "writes", "migrations", "workers", "audit"] as const;
type Name = (typeof names)[number];

/** What is wrong with each part, in words that anybody may read; empty = nothing. */
type Readiness = Record<Name, string[]>;

const KEPT_MS = 2 * SECOND;
const PATIENCE_MS = 2 * SECOND;

/**
 * 200 while this process can do its work, else 503 with the same fields and the reasons beside the error
 * (docs/platform.md, "Readiness").
 */
export async function ready(call: Pick<Call, "services">) {
  const found = await readiness(call.services);
  const checks = Object.fromEntries(names.map((name) => [name, found[name].length === 0 ? "ok" : "error"])) as Record<
    Name,
    "ok" | "error"
  >;
  const reasons = [...new Set(names.flatMap((name) => found[name]))];
  if (reasons.length === 0) return { status: "ready" as const, checks };
  throw problem("SERVICE_UNAVAILABLE", { beside: { status: "not_ready", checks, reasons }, retryAfterSeconds: 2 });
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
  const { store, random } = services;
  const [database, writes, migrations, workers, audit] = await Promise.all([
    check(services, async () => {
      await asSystem(services, "report health").selectFrom("leases").select("name").limit(1).execute();
      await probeTenants(store);
      return [];
    }),
    check(services, async () => {
      await probeWrites(services, random.uuid());
      return [];
    }),
    check(services, async () => ((await missingMigrations(services)).length === 0 ? [] : ["migrations are missing"])),
    check(services, () => idleWorkers(services)),
    // Refused requests that wait because the database takes no writes: trying them again shows whether it does by now.
    check(services, async () => ((await services.refusals.flush()) ? [] : ["refused requests wait to be recorded"])),
  ]);
  return { database, writes, migrations, workers, audit };
}

/** A database that does not answer is a failed check, not a probe that hangs. */
async function check({ log }: Services, work: () => Promise<string[]>): Promise<string[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string[]>((resolve) => {
    timer = setTimeout(() => resolve([`the database did not answer within ${PATIENCE_MS / SECOND} s`]), PATIENCE_MS);
  });
  try {
    return await Promise.race([work().catch(told), late]);
  } finally {
    clearTimeout(timer);
  }

  function told(error: unknown): string[] {
    log.warn("readiness.failed", { error: error as Error });
    return [troubleOf(error).what];
  }
}
