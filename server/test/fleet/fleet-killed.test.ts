import { loadavg } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { type OwnPostgresCluster, startOwnPostgres } from "#fixtures/postgres";
import { seededRandom } from "#fixtures/simulators/seeded-random";
import { faultSeed } from "../fault/killable.ts";
import { type Installation, install, until } from "../fault/processes.ts";
import { type DatabaseName, databases } from "../harness.ts";
import { inProof, PROOF_TIMEOUT_MS, provenOn, proving } from "../proving.ts";
import { checkCommands, drained } from "./check-fleet.ts";
import { KilledServers } from "./killed-servers.ts";
import { Orders } from "./orders.ts";
import { RunningFleet } from "./running-fleet.ts";
import { seedFleet } from "./seeded-fleet.ts";

const AGENTS = Number(process.env["FLEET_AGENTS"] ?? (proving ? 2_000 : 40));
/** Servers are killed in the first half; memory and times of the second are those of servers that live. */
const SECONDS = inProof({ long: 600, short: 6 });
const KILLS = Number(process.env["FLEET_KILLS"] ?? inProof({ long: 30, short: 2 }));
const INTERVAL_MS = proving ? 60_000 : 1_000;
/** What devices report first is more than all else that they send: a larger fleet than a server takes in at once comes slower. */
const SPREAD_MS = proving ? AGENTS * 30 : 0;
const COMMANDS_PER_SECOND = Math.max(8, AGENTS / 60);

/** Of one process; a server that does nothing has 100, and each agent holds a connection. */
const RESIDENT_MAX_MB = Math.max(500, AGENTS / 12);
const GROWTH_MAX_MB = 60;

it.each(provenOn(databases, "postgres"))(
  `${AGENTS} agents lose no command while servers are killed ${KILLS} times, on %s (seed ${faultSeed})`,
  { timeout: PROOF_TIMEOUT_MS },
  async (database: DatabaseName) => {
    // One that could recover, where figures are wanted.
    const cluster = proving && database === "postgres" ? await startOwnPostgres({ durable: true }) : undefined;
    const installation = await install(database, options(cluster));
    try {
      await story(installation, database);
    } finally {
      await installation.remove();
      await cluster?.stop();
    }
  },
);

const options = (cluster: OwnPostgresCluster | undefined) =>
  cluster ? { databaseUrl: cluster.url } : { migrated: true };

async function story(installation: Installation, database: DatabaseName): Promise<void> {
  const random = seededRandom(`${faultSeed} ${database} fleet`);
  const servers = await KilledServers.start(installation, database === "postgres" ? 2 : 1);
  const seeded = await seedFleet(installation, AGENTS);
  const urls = servers.all.map(({ url }) => url);
  const fleet = new RunningFleet({
    urls,
    fleet: seeded,
    intervalMs: INTERVAL_MS,
    spreadMs: SPREAD_MS,
    seed: faultSeed,
  });
  const orders = new Orders(installation, seeded, random);
  const done = { installation, orders, fleet };
  const connected = () => fleet.total("connected");
  const half = Math.floor(AGENTS / 2);
  const allConnected = () =>
    until("half of them hold a socket", async () => connected() === half, { timeoutMs: 120_000 + SPREAD_MS });
  let over = false;
  const kill = async () => {
    await servers.kill({ kills: KILLS, withinMs: (SECONDS / 2) * 1_000, random });
    await allConnected();
    await pause((SECONDS / 2) * 1_000);
    over = true;
  };
  try {
    await allConnected();
    await Promise.all([
      kill(),
      orders.give(
        COMMANDS_PER_SECOND,
        () => servers.all,
        () => over,
      ),
    ]);
    const p95Ms = fleet.p95Ms;
    const held = connected();
    const memory = servers.memory.map((one) => one.stop());
    await drained(done);
    await fleet.stop();
    const { unseen } = await checkCommands(done);
    tell(database, {
      ...{ agents: AGENTS, connected: held, seconds: SECONDS, kills: KILLS, heartbeats: fleet.total("heartbeats") },
      ...{ commands: orders.acknowledged.size, answered: fleet.settled.size, unseen },
      ...{ p95Ms, memory, unreached: fleet.total("unreached"), load: loadavg()[0] },
    });
    expect(unseen, "handed out by processes that died").toBeLessThanOrEqual(25 * KILLS);
    for (const { thenMb, nowMb, mostMb } of memory) {
      expect(mostMb).toBeLessThan(RESIDENT_MAX_MB);
      if (proving) expect(nowMb - thenMb).toBeLessThan(GROWTH_MAX_MB);
    }
    for (const server of servers.all) expect(await server.stop(), server.log()).toBe(0);
  } finally {
    await fleet.stop();
  }
}

const tell = (database: DatabaseName, figures: object) =>
  void process.stdout.write(`fleet on ${database}: ${JSON.stringify(figures)}\n`);
