import { request } from "node:http";
import { Client } from "pg";
import { createDatabase, type PostgresCluster, startPostgres } from "#fixtures/postgres";
import { connectSqlite } from "#server/db/dialect/sqlite-connection";
import type { Bench } from "./bench.ts";
import { started, type Target } from "./target.ts";

/** What large fleets of benches have. */
export const FLEET = process.env["BENCH_FLEET"] ?? '{"organizations":2000,"devices":100000,"entries":1000000}';
const TIMES = 5;

/** Runs a statement without a tenant scope. */
type Bare = (text: string) => Promise<void>;

/** A list, and the least that a database does for it: an indexed select of the rows of the page, and a count. */
interface Ask {
  path: string;
  rows: string;
  count?: string;
}

/**
 * Every list of a large fleet in milliseconds, each against the bare statements and one authenticated read, which is
 * what any answer costs. The ratio is that of the slowest list; all ratios go to stderr.
 */
export const listsLarge: readonly Bench[] = [bench("SQLite"), bench("Postgres"), held()];

/** As long as the embedded server may answer nobody. */
export const HELD_MS = 50;

/** The longest that the event loop of the embedded server is held while every list is read, four at a time. */
function held(): Bench {
  let server: Target;
  return {
    name: "lists-held: longest hold of the event loop (SQLite) ÷ 50 ms",
    limit: { kind: "max", value: 1 },
    async start() {
      server = await started("read-server", ["", FLEET]);
      await heldMs(server);
    },
    async run() {
      let longest = 0;
      for (const { path } of asks(server)) {
        await Promise.all(Array.from({ length: 4 }, () => get(server, `/api/v1${path}`)));
        const ms = await heldMs(server);
        process.stderr.write(`held ${ms.toFixed(1)} ms  ${path}\n`);
        longest = Math.max(longest, ms);
      }
      return { measured: longest, against: HELD_MS, unit: "ms" };
    },
    async stop() {
      server.process.kill("SIGTERM");
    },
  };
}

/** The longest hold since it was asked for last. */
export function heldMs({ process: child }: Target): Promise<number> {
  child.kill("SIGUSR2");
  return new Promise((resolve) => child.stdout?.once("data", (line: Buffer) => resolve(Number(line.toString()))));
}

function bench(database: "SQLite" | "Postgres"): Bench {
  let server: Target;
  let bare: Bare;
  let close: () => Promise<void>;
  let cluster: PostgresCluster | undefined;
  return {
    name: `lists-large: the worst list (${database}) ÷ bare select and count`,
    limit: { kind: "max", value: 3 },
    async start() {
      let url = "";
      if (database === "Postgres") {
        cluster = await startPostgres({ settings: { shared_buffers: "512MB", max_wal_size: "4GB" } });
        url = await createDatabase({ label: "bench", cluster: cluster.url });
      }
      server = await started("read-server", [url, FLEET]);
      [bare, close] = url === "" ? bareSqlite(server.file as string) : await barePostgres(url);
    },
    async run() {
      const answer = await middleOf(() => get(server, server.path));
      let worst = { measured: 0, against: 1 };
      for (const { path, rows, count } of asks(server)) {
        const measured = await middleOf(() => get(server, `/api/v1${path}`));
        const select = await middleOf(() => bare(rows));
        const against = answer + select + (count === undefined ? 0 : await middleOf(() => bare(count)));
        const ratio = measured / against;
        process.stderr.write(`${ratio.toFixed(2)}  ${measured.toFixed(1)} ÷ ${against.toFixed(1)} ms  ${path}\n`);
        if (ratio > worst.measured / worst.against) worst = { measured, against };
      }
      return { ...worst, unit: "ms" };
    },
    async stop() {
      server.process.kill("SIGTERM");
      await close();
      await cluster?.stop();
    },
  };
}

function asks({ partnerId, fleetOrgId }: Target): Ask[] {
  const devices = (where: string, page: string, count = true): Omit<Ask, "path"> => {
    const from = `from devices where partner_id = '${partnerId}' and status <> 'decommissioned' ${where}`;
    return { rows: `select * ${from} order by ${page}`, ...(count ? { count: `select count(*) ${from}` } : {}) };
  };
  const entries = (where: string, page: string): Omit<Ask, "path"> => {
    const from = `from audit_logs where reader_partner_id = '${partnerId}' ${where}`;
    return {
      rows: `select * ${from} order by timestamp desc, id desc ${page}`,
      count: `select count(*) ${from}`,
    };
  };
  const seen = "last_seen_at desc nulls last, id desc limit";
  const organizations = `from organizations where partner_id = '${partnerId}'`;
  const counted = { count: `select count(*) ${organizations}` };
  return [
    { path: "/devices", ...devices("", `${seen} 50`) },
    { path: "/devices?page=800", ...devices("", `${seen} 50 offset 39950`) },
    {
      path: "/devices?status=offline&osType=linux",
      ...devices("and status = 'offline' and os_type = 'linux'", `${seen} 50`),
    },
    { path: "/devices?role=server", ...devices("and device_role = 'server'", `${seen} 50`) },
    {
      path: "/devices?search=reception%2099",
      ...devices("and (hostname_key like '%reception 99%' or display_key like '%reception 99%')", `${seen} 50`),
    },
    { path: `/devices?orgId=${fleetOrgId}`, ...devices(`and org_id = '${fleetOrgId}'`, `${seen} 50`) },
    { path: "/devices?sort=hostname&limit=500", ...devices("", "hostname_key, id limit 501", false) },
    { path: "/devices?sort=lastSeen&limit=500&includeTotal=true", ...devices("", `${seen} 501`) },
    {
      path: "/devices?sort=enrolled&sortDir=asc&limit=500",
      ...devices("and enrolled_at is not null", "enrolled_at nulls first, id limit 501", false),
    },
    { path: "/orgs/organizations", rows: `select * ${organizations} order by created_at, id limit 50`, ...counted },
    {
      path: "/orgs/organizations?page=39",
      rows: `select * ${organizations} order by created_at, id limit 50 offset 1900`,
      ...counted,
    },
    { path: "/audit-logs/logs", ...entries("", "limit 50") },
    { path: "/audit-logs/logs?page=8000", ...entries("", "limit 50 offset 399950") },
    { path: `/audit-logs/logs?orgId=${fleetOrgId}`, ...entries(`and org_id = '${fleetOrgId}'`, "limit 50") },
    { path: "/audit-logs/logs?action=device", ...entries("and fold(action) like '%device%'", "limit 50") },
    {
      path: "/audit-logs/search?q=customer%2097",
      ...entries("and (fold(resource_name) like '%customer 97%' or fold(details) like '%customer 97%')", "limit 50"),
    },
  ];
}

function bareSqlite(file: string): [Bare, () => Promise<void>] {
  const db = connectSqlite(file, { readonly: true });
  return [async (text) => void db.prepare(text).raw().all(), async () => void db.close()];
}

async function barePostgres(url: string): Promise<[Bare, () => Promise<void>]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("vacuum analyze");
  return [async (text) => void (await client.query(text)), () => client.end()];
}

/** A connection each: the bare statements hold up this process longer than the server keeps an idle one. */
export function get({ url, token }: Target, path: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { agent: false, headers }, (answer) => {
      answer.once("end", () =>
        answer.statusCode === 200 ? resolve() : reject(new Error(`${path}: ${answer.statusCode}`)),
      );
      answer.once("error", reject);
      answer.resume();
    });
    sent.once("error", reject);
    sent.end();
  });
}

export async function middleOf(work: () => Promise<void>, count = TIMES): Promise<number> {
  const times: number[] = [];
  for (let time = 0; time < count; time += 1) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[Math.floor(count / 2)] as number;
}
