import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createDatabase, type PostgresCluster, startPostgres } from "#fixtures/postgres";
import { buildServices } from "#server/app";
import { startBackground } from "#server/background";
import { readConfig } from "#server/config";
import { asSystem } from "#server/db/as-system";
import { emitEvents } from "#server/events/emit";
import type { Services } from "#server/services";
import type { Bench } from "./bench.ts";
import { type SeededWebhook, seedWebhooks } from "./seed-webhooks.ts";

/** 10,000 events in three rounds, told to 50 webhooks: ten in each organization. */
const EVENTS = 3_334;
const ORGANIZATIONS = 5;
const WEBHOOKS = 10;
const STEP_MS = 100;
const EVENTS_A_STEP = 6;
const SLOW_MS = 3_000;

/** Seconds from the change to the receiver, at the 95th percentile, beside a receiver that is dead and one that is slow. */
export const webhookDelays: readonly Bench[] = [benchOn("sqlite"), benchOn("postgres")];

function benchOn(database: "sqlite" | "postgres"): Bench {
  let cluster: PostgresCluster | undefined;
  let dir: string | undefined;
  let services: ReturnType<typeof buildServices> | undefined;
  let background: { stop(): Promise<void> } | undefined;
  let receivers: Receivers | undefined;
  let webhooks: SeededWebhook[] = [];
  return {
    name: `delay of webhooks beside dead ones, p95 seconds (${database === "sqlite" ? "SQLite" : "Postgres"})`,
    limit: { kind: "max", value: 2 },
    async start() {
      receivers = await startReceivers();
      dir = mkdtempSync(join(tmpdir(), "rmm-bench-"));
      if (database === "postgres") cluster = await startPostgres();
      const url = cluster && (await createDatabase({ label: "bench", cluster: cluster.url }));
      const env = { RMM_DATA_DIR: dir, WEBHOOK_ALLOW_PRIVATE: "true", LOG_LEVEL: "error" };
      services = buildServices(readConfig({ ...env, ...(url && { DATABASE_URL: url }) }));
      await services.store.migrate();
      const { well, dead, slow } = receivers;
      const healthy = Array<string>(WEBHOOKS).fill(well);
      const organizations = Array.from({ length: ORGANIZATIONS }, () => healthy);
      organizations[0] = [dead, slow, ...healthy.slice(2)];
      webhooks = await seedWebhooks(services, organizations);
      background = startBackground(services, { schedules: true });
      // A consumer that is new begins at the end of the log.
      await pause(1_000);
    },
    async run() {
      const { delays } = receivers as Receivers;
      delays.length = 0;
      await tell(services as Services, [...new Set(webhooks.map(({ orgId }) => orgId))]);
      const expected = EVENTS * WEBHOOKS - Math.ceil(EVENTS / ORGANIZATIONS) * 2;
      for (let waited = 0; delays.length < expected && waited < 60_000; waited += 100) await pause(100);
      if (delays.length < expected) throw new Error(`${delays.length} of ${expected} deliveries arrived`);
      delays.sort((a, b) => a - b);
      const p95 = delays[Math.floor(delays.length * 0.95)] as number;
      return { measured: p95 / 1_000, against: 1, unit: "s" };
    },
    async stop() {
      receivers?.close();
      await background?.stop();
      await services?.store.close();
      await cluster?.stop();
      if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** At an even pace, taking the organizations in turn. */
async function tell(services: Services, orgIds: readonly string[]): Promise<void> {
  const db = asSystem(services, "hand out events");
  for (let told = 0; told < EVENTS; told += EVENTS_A_STEP) {
    const began = performance.now();
    const count = Math.min(EVENTS_A_STEP, EVENTS - told);
    const events = Array.from({ length: count }, (_, n) => ({
      orgId: orgIds[(told + n) % orgIds.length] as string,
      data: { siteId: services.random.uuid(), siteName: "Main office" },
    }));
    await db.transaction().execute((tx) => emitEvents(tx, services, "site.created", events));
    services.wakeEvents();
    await pause(Math.max(0, STEP_MS - (performance.now() - began)));
  }
}

interface Receivers {
  readonly well: string;
  /** Answers late. */
  readonly slow: string;
  /** Takes connections and never answers. */
  readonly dead: string;
  /** Milliseconds from the change to the receiver that is well. */
  readonly delays: number[];
  close(): void;
}

async function startReceivers(): Promise<Receivers> {
  const delays: number[] = [];
  const well = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { timestamp } = JSON.parse(Buffer.concat(parts).toString()) as { timestamp: string };
    delays.push(Date.now() - Date.parse(timestamp));
    response.writeHead(204).end();
  });
  const slow = createServer((_, response) => void setTimeout(() => response.writeHead(204).end(), SLOW_MS));
  const dead = createServer(() => undefined);
  const servers = [well, slow, dead];
  for (const server of servers) await once(server.listen(0, "127.0.0.1"), "listening");
  const url = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const close = () => {
    for (const server of servers) server.close().closeAllConnections();
  };
  return { well: url(well), slow: url(slow), dead: url(dead), delays, close };
}
