import { createDatabase, type PostgresCluster, startPostgres } from "#fixtures/postgres";
import type { Bench } from "./bench.ts";
import { type Asked, load } from "./load-of.ts";
import type { FleetSize } from "./seed-fleet.ts";
import { started, type Target } from "./target.ts";

/** What each agent of one organization does, one after another. */
export interface AgentAct {
  readonly name: string;
  readonly database: "SQLite" | "Postgres";
  /** Lowest allowed share of what Express answers to the same body. */
  readonly least: number;
  readonly method: "GET" | "POST";
  /** Below its agent. */
  readonly path: string;
  readonly body?: object;
  readonly unit?: string;
  readonly fleet: Pick<FleetSize, "agents" | "rules">;
}

/** Against Express answering a constant to the same body. */
export function byAgents({ name, database, least, method, path, body, fleet, unit = "req/s" }: AgentAct): Bench {
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
      const size: FleetSize = { organizations: 1, devices: 0, entries: 0, ...fleet };
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
      return { measured, against, unit };
    },
    async stop() {
      for (const target of [server, hello]) target?.process.kill("SIGTERM");
      await cluster?.stop();
    },
  };
}
