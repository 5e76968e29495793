import { spawn } from "node:child_process";
import { createDatabase, type PostgresCluster, startPostgres } from "#fixtures/postgres";
import type { Bench } from "./bench.ts";
import { sibling, started, type Target } from "./target.ts";

const CONNECTIONS = "32";
const ROUND_MS = "3000";

/** One authenticated `GET /orgs/organizations/:id`, request log on, against Express answering a constant. */
export const authenticatedRead: readonly Bench[] = [bench("SQLite", 0.6), bench("Postgres", 0.35)];

function bench(database: "SQLite" | "Postgres", value: number): Bench {
  let [server, hello]: [Target | undefined, Target | undefined] = [undefined, undefined];
  let cluster: PostgresCluster | undefined;
  return {
    name: `authenticated read (${database}) ÷ Express hello-JSON`,
    limit: { kind: "min", value },
    async start() {
      let url: string | undefined;
      if (database === "Postgres") {
        cluster = await startPostgres({ durable: true });
        url = await createDatabase({ label: "bench", cluster: cluster.url });
      }
      server = await started("read-server", url ? [url] : []);
      hello = await started("hello-server", []);
      // Neither side is measured while its code is still being compiled.
      for (const target of [hello, server]) await load(target);
    },
    async run() {
      const against = await load(hello as Target);
      const measured = await load(server as Target);
      return { measured, against, unit: "req/s" };
    },
    async stop() {
      for (const target of [server, hello]) target?.process.kill("SIGTERM");
      await cluster?.stop();
    },
  };
}

function load({ url, path, token }: Target): Promise<number> {
  const { hostname, port } = new URL(url);
  const headers = token === undefined ? [] : [`Authorization: Bearer ${token}`];
  const script = sibling("load");
  const child = spawn(
    process.execPath,
    [...process.execArgv, script, hostname, port, path, CONNECTIONS, ROUND_MS, ...headers],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.stdout?.once("data", (line: Buffer) => {
      const { perSecond, failed } = JSON.parse(line.toString()) as { perSecond: number; failed: number };
      if (failed > 0) reject(new Error(`${failed} requests to ${path} failed`));
      else resolve(perSecond);
    });
  });
}
