import { setTimeout as pause } from "node:timers/promises";
import { createDatabase, type PostgresCluster, startPostgres } from "#fixtures/postgres";
import type { Bench } from "./bench.ts";
import { type Beats, beatDuring } from "./heartbeats.ts";
import { analyzed } from "./large-fleet.ts";
import { started, type Target } from "./target.ts";

type DatabaseName = "SQLite" | "Postgres";

interface Size {
  readonly devices: number;
  readonly groups: number;
}

/** The largest organization. */
const large: Size = { devices: 100_000, groups: 500 };
/** One whose memberships are written again in each round. */
const medium: Size = { devices: 30_000, groups: 150 };
/** A sweep of all groups of the largest organization. */
const SECONDS = 60;
/** As long as anything may hold the event loop. */
const HELD_MS = 50;
/** Heartbeats beside a sweep may take so many times as long. */
const SLOWER = 4;
const QUIET_MS = 5_000;

interface Swept {
  readonly seconds: number;
  readonly heldMs: number;
}

/**
 * A sweep of groups that hold their devices already; the first one, which writes them all, goes to stderr. And heartbeats
 * beside a sweep that writes all memberships, against heartbeats alone.
 */
export const groupSweep: readonly Bench[] = [sweeps("SQLite"), sweeps("Postgres"), beats("SQLite"), beats("Postgres")];

function sweeps(database: DatabaseName): Bench {
  const fleet = fleetOn(database, large);
  return {
    name: `groups: a sweep of ${large.groups} over ${large.devices} devices (${database}) ÷ ${SECONDS} s`,
    limit: { kind: "max", value: 1 },
    async start() {
      tell("first sweep", await sweep(await fleet.start()));
    },
    async run() {
      const swept = await sweep(fleet.server());
      tell("again", swept);
      return { measured: swept.seconds, against: SECONDS, unit: "s" };
    },
    stop: fleet.stop,
  };
}

function beats(database: DatabaseName): Bench {
  const fleet = fleetOn(database, medium);
  return {
    name: `groups: p95 of heartbeats beside a sweep that writes ${medium.groups} over ${medium.devices} devices (${database}) ÷ alone`,
    limit: { kind: "max", value: SLOWER },
    async start() {
      // Nothing is measured while its code is still being compiled.
      await beatDuring(await fleet.start(), pause(QUIET_MS));
    },
    async run() {
      await told(fleet.server(), "SIGHUP");
      const alone = await beatDuring(fleet.server(), pause(QUIET_MS));
      const sweeping = sweep(fleet.server());
      const beside = await beatDuring(fleet.server(), sweeping);
      tell(`heartbeats ${text(alone)} alone, ${text(beside)} beside it; sweep`, await sweeping);
      if (alone.failed + beside.failed > 0) throw new Error(`${alone.failed + beside.failed} heartbeats failed`);
      return { measured: beside.p95Ms, against: alone.p95Ms, unit: "ms" };
    },
    stop: fleet.stop,
  };
}

function fleetOn(database: DatabaseName, { devices, groups }: Size) {
  let server: Target | undefined;
  let cluster: PostgresCluster | undefined;
  return {
    server: () => server as Target,
    async start() {
      let url = "";
      if (database === "Postgres") {
        cluster = await startPostgres({ durable: true, settings: { shared_buffers: "512MB", max_wal_size: "4GB" } });
        url = await createDatabase({ label: "bench", cluster: cluster.url });
      }
      server = await started("group-server", [url, String(devices), String(groups)]);
      if (url !== "") await (await analyzed(url)).end();
      return server;
    },
    async stop() {
      server?.process.kill("SIGTERM");
      await cluster?.stop();
    },
  };
}

const text = ({ count, p50Ms, p95Ms }: Beats) => `p50 ${p50Ms.toFixed(1)}, p95 ${p95Ms.toFixed(1)} ms of ${count}`;

const tell = (which: string, { seconds, heldMs }: Swept) =>
  process.stderr.write(
    `${which}: ${seconds.toFixed(1)} s, event loop held ${heldMs.toFixed(0)} ms (at most ${HELD_MS})\n`,
  );

const sweep = (server: Target) => told(server, "SIGUSR2") as Promise<Swept>;

const told = ({ process: child }: Target, signal: "SIGUSR2" | "SIGHUP"): Promise<unknown> =>
  new Promise((resolve) => {
    child.stdout?.once("data", (line: Buffer) => resolve(JSON.parse(line.toString())));
    child.kill(signal);
  });
