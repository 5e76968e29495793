import { request } from "node:http";
import { Client } from "pg";
import { createDatabase, type PostgresCluster, startPostgres } from "#fixtures/postgres";
import { connectSqlite } from "#server/db/dialect/sqlite-connection";
import type { Bench } from "./bench.ts";
import { FLEET, middleOf } from "./lists-large.ts";
import { started, type Target } from "./target.ts";

/** Three rounds stay below what a person may ask in a minute. */
const TIMES = 2;

type Part = readonly [field: string, operator: string, value: unknown];
interface Filter {
  readonly operator: "AND" | "OR";
  readonly conditions: readonly object[];
}

const joined = (operator: "AND" | "OR", ...parts: readonly (Part | Filter)[]): Filter => ({
  operator,
  conditions: parts.map((part) => {
    if (!Array.isArray(part)) return part as Filter;
    const [field, operator, value] = part as Part;
    return { field, operator, value };
  }),
});
const all = (...parts: readonly (Part | Filter)[]) => joined("AND", ...parts);
const any = (...parts: readonly (Part | Filter)[]) => joined("OR", ...parts);

/** What an index finds, on each branch. */
const selective: Readonly<Record<string, Filter>> = {
  "a rare tag": all(["tags", "hasAny", ["vip"]]),
  "a rare tag and a system": all(["tags", "hasAny", ["vip"]], ["osType", "equals", "windows"]),
  "one title": all(["software.installed", "equals", "Vendor 233 Product 4433"]),
  "part of a title": all(["software.installed", "contains", "product 4433"]),
  "part of a hostname": all(["hostname", "contains", "pc-9912"]),
  "a hostname": all(["hostname", "equals", "PC-7919"]),
  "a rare tag on windows, or a title under load": any(
    all(["tags", "hasAny", ["vip"]], ["osType", "equals", "windows"]),
    all(["software.installed", "equals", "Vendor 233 Product 4433"], ["metrics.cpuPercent", "greaterThan", 50]),
  ),
  "a rare tag or a title": any(["tags", "hasAny", ["vip"]], ["software.installed", "in", ["Vendor 233 Product 4433"]]),
};

/** What most devices satisfy, or no index knows. */
const broad: Readonly<Record<string, Filter>> = {
  "a status": all(["status", "equals", "online"]),
  "two letters of a name": all(["hostname", "contains", "99"]),
  "a pattern": all(["hostname", "matches", "^PC-[0-9]{2}7"]),
  "part of a tag": all(["tags", "contains", "g-1"]),
  "software that is not there": all(["software.notInstalled", "contains", "vendor 17"]),
  "a custom value": all(["custom.location", "contains", "ust"]),
  "a common tag": all(["tags", "hasAny", ["tag-0", "tag-1"]]),
  "load or disk": any(["metrics.cpuPercent", "greaterThan", 90], ["metrics.diskPercent", "greaterThan", 95]),
};

/** The slowest preview of a large fleet ÷ reading every device once; each preview goes to stderr. */
export const filters: readonly Bench[] = [
  bench("SQLite", "selective", selective, 0.35),
  bench("Postgres", "selective", selective, 0.35),
  bench("SQLite", "broad", broad, 2.5),
  bench("Postgres", "broad", broad, 2.5),
];

function bench(
  database: "SQLite" | "Postgres",
  kind: string,
  asked: Readonly<Record<string, Filter>>,
  value: number,
): Bench {
  let server: Target;
  let scan: () => Promise<void>;
  let close: () => Promise<void>;
  let cluster: PostgresCluster | undefined;
  return {
    name: `filters: the slowest ${kind} preview (${database}) ÷ full scan of devices`,
    limit: { kind: "max", value },
    async start() {
      let url = "";
      if (database === "Postgres") {
        cluster = await startPostgres({ settings: { shared_buffers: "512MB", max_wal_size: "4GB" } });
        url = await createDatabase({ label: "bench", cluster: cluster.url });
      }
      const fleet = { ...(JSON.parse(FLEET) as object), entries: 0, facts: true };
      server = await started("read-server", [url, JSON.stringify(fleet)]);
      [scan, close] = url === "" ? scanSqlite(server.file as string) : await scanPostgres(url);
    },
    async run() {
      let worst = { measured: 0, against: 1 };
      for (const [name, conditions] of Object.entries(asked)) {
        const measured = await middleOf(() => preview(server, conditions), TIMES);
        const against = await middleOf(scan, TIMES);
        process.stderr.write(
          `${(measured / against).toFixed(2)}  ${measured.toFixed(1)} ÷ ${against.toFixed(1)} ms  ${name}\n`,
        );
        if (measured / against > worst.measured / worst.against) worst = { measured, against };
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

/** No index tells which builds are known. */
const SCAN = "select count(*) from devices where os_build is null";

function scanSqlite(file: string): [() => Promise<void>, () => Promise<void>] {
  const db = connectSqlite(file, { readonly: true });
  return [async () => void db.prepare(SCAN).raw().all(), async () => void db.close()];
}

async function scanPostgres(url: string): Promise<[() => Promise<void>, () => Promise<void>]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("vacuum analyze");
  return [async () => void (await client.query(SCAN)), () => client.end()];
}

function preview({ url, token }: Target, conditions: Filter): Promise<void> {
  const body = JSON.stringify({ conditions });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/api/v1/filters/preview`, { method: "POST", headers }, (response) => {
      response.resume();
      response.on("end", () => (response.statusCode === 200 ? resolve() : reject(new Error(`${response.statusCode}`))));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
