import pg from "pg";
import type { Store } from "#server/db/dialect/index";
import { connectSqlite } from "#server/db/dialect/sqlite-connection";
import { snakeCase } from "#server/db/naming";
import { type TableName, tableNames, tables } from "#server/db/tables";
import { numberEvents } from "#server/events/numbering";
import { handAll } from "#server/events/runner";
import { consumers } from "#server/generated/background";
import type { TestServer } from "../harness.ts";

/** Tables that record every call, refused or not, besides the tables of the audit room. */
const recordsOfCalls: readonly TableName[] = ["rateLimits", "idempotencyKeys", "leases", "eventCursors"];

/** Columns that a refused call may change, with their meaning. */
const marksOfCalls: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  sessions: { lastUsedAt: "when its holder was last seen" },
  apiKeys: { lastUsedAt: "when it was last used", usageCount: "how often" },
  partnerServicePrincipalKeys: { lastUsedAt: "when it was last used" },
  users: { failedLogins: "wrong passwords", lockedUntil: "wrong passwords" },
  userTokens: { failures: "wrong codes" },
};

/** Tables whose rows background work changes after the answer; here only inserts count. */
const workedLater: readonly TableName[] = ["jobs", "mailOutbox", "events"];

const watched = tableNames.filter((name) => tables[name].writtenBy !== "audit" && !recordsOfCalls.includes(name));

/** Records every inserted, changed or deleted row in all tables but those that record calls. */
export interface Changes {
  /** Starts recording, after waiting for jobs and events of earlier calls. */
  mark(): Promise<void>;
  /** Changes since the mark without repetition, such as `update users`. */
  since(): Promise<string[]>;
  close(): Promise<void>;
}

/** Adds triggers to the tables of a test database: changes that are rolled back are not recorded. */
export const noteChanges = (store: Store): Promise<void> =>
  store.file === undefined ? notePostgres(store.url as string) : noteSqlite(store.file);

/** Reads what the triggers of `noteChanges` have written. */
export async function watchChanges(server: TestServer): Promise<Changes> {
  const { store } = server.services;
  const work = () => workAll(server);
  return store.file === undefined ? onPostgres(store.url as string, work) : onSqlite(store.file, work);
}

type Work = () => Promise<void>;

/** Jobs and events of earlier calls, whose consumers leave rows too. */
async function workAll({ services, workJobs }: TestServer): Promise<void> {
  await workJobs();
  await numberEvents(services);
  for (const consumer of consumers) await handAll(services, consumer);
}

/** The last change, and whether work waits. What failed waits for its next attempt and does not matter here. */
const LATEST = `select (select coalesce(max(at), 0) from sweep_changes) as at,
  exists (select 1 from jobs where status = 'running' or (status = 'queued' and attempts = 0))
  or exists (select 1 from events where position is null)
  or exists (select 1 from event_cursors where attempts = 0 and position < (select max(position) from events)) as working`;
const SINCE = "select distinct what from sweep_changes where at > ";

async function notePostgres(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`
    create table sweep_changes (at bigserial primary key, what text not null);
    create function sweep_change() returns trigger language plpgsql security definer as
    $$ begin insert into public.sweep_changes (what) values (lower(tg_op) || ' ' || tg_table_name); return null; end $$;`);
  const { rows } = await client.query<{ table_name: string; column_name: string }>(
    "select table_name, column_name from information_schema.columns where table_schema = 'public'",
  );
  const columnsOf = (table: string) => rows.filter((row) => row.table_name === table).map((row) => row.column_name);
  const triggers = watched.flatMap((table) =>
    events(table).map((event) => {
      const columns = kept(table, columnsOf(snakeCase(table)));
      const differ = columns.map((name) => `old."${name}"::text is distinct from new."${name}"::text`).join(" or ");
      return `create trigger sweep_${event} after ${event} on "${snakeCase(table)}" for each row
        ${event === "update" ? `when (${differ})` : ""} execute function sweep_change();`;
    }),
  );
  await client.query(triggers.join("\n"));
  await client.end();
}

async function onPostgres(url: string, work: Work): Promise<Changes> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  let from = 0;
  return {
    async mark() {
      from = await idleAt(work, async () => (await client.query<Latest>({ name: "latest", text: LATEST })).rows[0]);
    },
    async since() {
      const { rows: found } = await client.query({ name: "since", text: `${SINCE}$1`, values: [from] });
      return found.map((row: { what: string }) => row.what);
    },
    close: () => client.end(),
  };
}

async function noteSqlite(file: string): Promise<void> {
  const db = connectSqlite(file);
  // In one transaction, because each transaction waits for the disk.
  db.exec("begin; create table sweep_changes (at integer primary key autoincrement, what text not null)");
  for (const table of watched) {
    const name = snakeCase(table);
    const columns = kept(
      table,
      (db.pragma(`table_info(${name})`) as { name: string }[]).map((column) => column.name),
    );
    const differ = columns.map((column) => `old."${column}" is not new."${column}"`).join(" or ");
    for (const event of events(table))
      db.exec(`create trigger sweep_${event}_${name} after ${event} on "${name}"
        ${event === "update" ? `when ${differ}` : ""}
        begin insert into sweep_changes (what) values ('${event} ${name}'); end`);
  }
  db.exec("commit");
  db.close();
}

async function onSqlite(file: string, work: Work): Promise<Changes> {
  const db = connectSqlite(file);
  const [latest, since] = [db.prepare(LATEST), db.prepare(`${SINCE}?`)];
  let from = 0;
  return {
    async mark() {
      from = await idleAt(work, async () => latest.get() as Latest);
    },
    since: async () => since.all(from).map((row) => (row as { what: string }).what),
    close: async () => void db.close(),
  };
}

const events = (table: TableName) => (workedLater.includes(table) ? ["insert"] : ["insert", "update", "delete"]);

const kept = (table: TableName, columns: readonly string[]): string[] => {
  const marks = Object.keys(marksOfCalls[table] ?? {}).map(snakeCase);
  return columns.filter((column) => !marks.includes(column) && !(marks.length > 0 && column === "updated_at"));
};

interface Latest {
  at: number | string;
  working: boolean | number;
}

/** The last change once nothing works any more; also waits for what the server's own runners have in hand. */
async function idleAt(work: Work, look: () => Promise<Latest | undefined>): Promise<number> {
  for (let tries = 0; tries <= 500; tries += 1) {
    const latest = await look();
    if (!latest?.working) return Number(latest?.at);
    await work();
    if (tries > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("jobs or events of earlier calls are not done");
}
