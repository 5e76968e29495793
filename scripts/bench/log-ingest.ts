import { Client } from "pg";
import { Pool } from "undici";
import { createDatabase, type PostgresCluster, startPostgres } from "#fixtures/postgres";
import { connectSqlite } from "#server/db/dialect/sqlite-connection";
import type { Bench } from "./bench.ts";
import { started, type Target } from "./target.ts";

const AGENTS = 60;
const REQUESTS = 120;
/** Of a request, as many as are taken. */
const ENTRIES = 500;
const AT_ONCE = 4;

/** What agents log, as many rows a second as are stored by the server ÷ by the database alone, 100 rows a statement. */
export const logIngest: readonly Bench[] = [bench("SQLite"), bench("Postgres")];

interface Raw {
  /** Rows a second. */
  insert(): Promise<number>;
  close(): Promise<void>;
}

function bench(database: "SQLite" | "Postgres"): Bench {
  let server: Target;
  let raw: Raw;
  let cluster: PostgresCluster | undefined;
  return {
    name: `log-ingest: entries stored (${database}) ÷ bare multi-row inserts`,
    limit: { kind: "min", value: 0.2 },
    async start() {
      let url = "";
      if (database === "Postgres") {
        cluster = await startPostgres({ settings: { shared_buffers: "512MB", max_wal_size: "4GB" } });
        url = await createDatabase({ label: "bench", cluster: cluster.url });
      }
      const size = { organizations: 1, devices: 1, entries: 0, agents: { count: AGENTS, commands: 0 } };
      server = await started("read-server", [url, JSON.stringify(size)]);
      raw = url === "" ? rawSqlite(server.file as string) : await rawPostgres(url);
    },
    run: async () => ({ measured: await submitted(server), against: await raw.insert(), unit: "rows/s" }),
    async stop() {
      server.process.kill("SIGTERM");
      await raw.close();
      await cluster?.stop();
    },
  };
}

const entry = (at: number) => ({
  ...{ timestamp: new Date().toISOString(), level: "info", component: "updater", agentVersion: "2.4.1" },
  ...{ message: `The update service answered in ${at} ms; nothing waits for this machine`, fields: { attempt: at } },
});

async function submitted({ url, agents = [] }: Target): Promise<number> {
  const pool = new Pool(url, { connections: AT_ONCE });
  const body = JSON.stringify({ logs: Array.from({ length: ENTRIES }, (_, at) => entry(at)) });
  let next = 0;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let at = next++; at < REQUESTS; at = next++) {
        const { agentId, token } = agents[at % agents.length] as { agentId: string; token: string };
        const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
        const path = `/api/v1/agents/${agentId}/logs`;
        const answer = await pool.request({ method: "POST", path, headers, body });
        await answer.body.dump();
        if (answer.statusCode !== 201) throw new Error(`the server answered ${answer.statusCode}`);
      }
    }),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  await pool.close();
  return (REQUESTS * ENTRIES) / seconds;
}

const ROWS = 100;
const columns = "id, org_id, device_id, timestamp, level, component, message, fields, agent_version, created_at";
const COLUMNS = columns.split(",").length;
const org = "7b2ce6f1-8f2f-4f3a-9a51-0b1c77d5a001";

const values = (): string[] =>
  Array.from({ length: ROWS }, (_, at) => {
    const { timestamp, level, component, message, fields, agentVersion } = entry(at);
    const id = crypto.randomUUID();
    return [id, org, org, timestamp, level, component, message, JSON.stringify(fields), agentVersion, timestamp];
  }).flat();

async function perSecond(insert: (rows: string[]) => unknown, begin: () => unknown, commit: () => unknown) {
  const startedAt = performance.now();
  for (let request = 0; request < REQUESTS; request += 1) {
    await begin();
    for (let at = 0; at < ENTRIES; at += ROWS) await insert(values());
    await commit();
  }
  return (REQUESTS * ENTRIES) / ((performance.now() - startedAt) / 1_000);
}

function rawSqlite(file: string): Raw {
  const db = connectSqlite(file);
  const row = `(${Array(COLUMNS).fill("?").join(", ")})`;
  const insert = db.prepare(`insert into device_logs (${columns}) values ${Array(ROWS).fill(row).join(", ")}`);
  const run = (text: string) => () => db.exec(text);
  return {
    insert: () => perSecond((rows) => insert.run(rows), run("begin immediate"), run("commit")),
    close: async () => void db.close(),
  };
}

async function rawPostgres(url: string): Promise<Raw> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const row = (at: number) => `(${Array.from({ length: COLUMNS }, (_, column) => `$${at * COLUMNS + column + 1}`)})`;
  const text = `insert into device_logs (${columns}) values ${Array.from({ length: ROWS }, (_, at) => row(at))}`;
  const run = (command: string) => () => client.query(command);
  return {
    insert: () =>
      perSecond((rows) => client.query({ name: "insert", text, values: rows }), run("begin"), run("commit")),
    close: () => client.end(),
  };
}
