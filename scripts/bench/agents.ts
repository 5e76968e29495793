import { createDatabase, type PostgresCluster, startPostgres } from "#fixtures/postgres";
import type { Bench } from "./bench.ts";
import { type Asked, load } from "./load-of.ts";
import type { FleetSize } from "./seed-fleet.ts";
import { started, type Target } from "./target.ts";

type DatabaseName = "SQLite" | "Postgres";

interface Act {
  readonly name: string;
  readonly database: DatabaseName;
  /** Lowest allowed share of what Express answers to the same body. */
  readonly least: number;
  readonly method: "GET" | "POST";
  /** Below its agent. */
  readonly path: string;
  readonly body?: object;
  readonly fleet: NonNullable<FleetSize["agents"]>;
}

/** So many agents that none meets its limit of requests a minute. */
const beating = { count: 6_000, commands: 0 };
const claiming = { count: 6_000, commands: 20 };
const report = {
  ...{ agentVersion: "1.4.0", hostname: "reception-pc", osVersion: "Windows 11 24H2", uptimeSeconds: 86_400 },
  ...{ lastUser: "ana", pendingReboot: false, metrics: { cpuPercent: 12.5, ramPercent: 48, diskPercent: 61 } },
};
const heartbeat = { name: "heartbeat", method: "POST", path: "heartbeat", body: report, fleet: beating } as const;
const claim = { name: "claim of ten commands", method: "GET", path: "commands", fleet: claiming } as const;

/** What agents do all the time, against Express answering a constant to the same body. */
export const agents: readonly Bench[] = [
  bench({ ...heartbeat, database: "SQLite", least: 0.08 }),
  bench({ ...heartbeat, database: "Postgres", least: 0.04 }),
  bench({ ...claim, database: "SQLite", least: 0.02 }),
  bench({ ...claim, database: "Postgres", least: 0.01 }),
];

function bench({ name, database, least, method, path, body, fleet }: Act): Bench {
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  const same: Asked[] = [{ method, path: "/", ...text }];
  let [asked, server, hello]: [Asked[], Target | undefined, Target | undefined] = [[], undefined, undefined];
  let cluster: PostgresCluster | undefined;
  return {
    name: `${name} (${database}) ÷ Express hello-JSON with the same body`,
    limit: { kind: "min", value: least },
    async start() {
      let url = "";
      if (database === "Postgres") {
        cluster = await startPostgres({ durable: true });
        url = await createDatabase({ label: "bench", cluster: cluster.url });
      }
      const size: FleetSize = { organizations: 1, devices: 0, entries: 0, agents: fleet };
      server = await started("read-server", [url, JSON.stringify(size)]);
      asked = (server.agents ?? []).map(({ agentId, token }) => ({
        ...{ method, path: `/api/v1/agents/${agentId}/${path}`, headers: [`Authorization: Bearer ${token}`], ...text },
      }));
      hello = await started("hello-server", []);
      // Neither side is measured while its code is still being compiled.
      await load(hello, same);
      await load(server, asked);
    },
    async run() {
      const against = await load(hello as Target, same);
      const measured = await load(server as Target, asked);
      return { measured, against, unit: "req/s" };
    },
    async stop() {
      for (const target of [server, hello]) target?.process.kill("SIGTERM");
      await cluster?.stop();
    },
  };
}
