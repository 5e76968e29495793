import { type CompiledQuery, sql } from "kysely";
import type { Store } from "#server/db/dialect/index";
import { snakeCase } from "#server/db/naming";
import { type Ownership, tableNames, tables } from "#server/db/tables";
import { asOwner } from "../as-owner.ts";
import type { TestServer } from "../harness.ts";
import type { Statement } from "./watch-statements.ts";

const ownedBy = (owns: (owner: Ownership) => boolean) =>
  new Set(tableNames.filter((name) => owns(tables[name].owner)).map(snakeCase));
const tenantTables = ownedBy((owner) => owner !== "system");
/**
 * A row is a partner's or an organization's, or of a person in either: a condition with an OR over subqueries, for
 * which Postgres reads the table. They hold settings and people, not what grows with a fleet.
 */
const eitherOwner = ownedBy((owner) => owner.startsWith("tenant") || owner === "member");

/** Tables of tenants that the plan of a statement reads without an index condition. */
export function scansOf(store: Store, statement: Statement): Promise<string[]> {
  return store.dialect === "sqlite" ? onSqlite(store, statement) : onPostgres(store, statement);
}

const explained = (store: Store, prefix: string, { sql: text, parameters }: Statement): CompiledQuery =>
  ({ ...sql.raw(prefix + text).compile(store.connection("system")), parameters }) as CompiledQuery;

async function onSqlite(store: Store, statement: Statement): Promise<string[]> {
  const { rows } = await store
    .connection("system")
    .executeQuery<{ detail: string }>(explained(store, "explain query plan ", statement) as never);
  const plan = rows.map(({ detail }) => detail);
  const made = plan.map((line) => /^(?:CO-ROUTINE|MATERIALIZE) (\w+)/.exec(line)?.[1]);
  const scanned = (line: string) => /^SCAN (\w+)/.exec(line)?.[1] ?? "";
  return plan.filter((line) => tenantTables.has(scanned(line)) && !made.includes(scanned(line)));
}

/** Makes Postgres plan as if every table had a hundred times its rows: of a small one it may well scan the whole index. */
export const pretendLarge = (server: TestServer): Promise<void> =>
  asOwner(server, [
    "analyze",
    `update pg_class set reltuples = greatest(reltuples, 10) * 100, relpages = greatest(relpages, 1)
     where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  ]);

interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Index Cond"?: string;
  Plans?: PlanNode[];
}

const onPostgres = (store: Store, statement: Statement): Promise<string[]> =>
  store
    .connection(statement.wall)
    .transaction()
    .execute(async (tx) => {
      await sql`set local enable_seqscan = off`.execute(tx);
      const explain = explained(store, "explain (format json) ", statement);
      const { rows } = await tx.executeQuery<Record<string, [{ Plan: PlanNode }]>>(explain as never);
      return scansIn((Object.values(rows[0]!)[0] as [{ Plan: PlanNode }])[0].Plan);
    });

/** Indexes of what waits for the server's own work: they are short whatever the tables hold. */
const short = new Set(["events_unnumbered"]);

/** Reading a whole index in order counts as a scan too. */
function scansIn(node: PlanNode): string[] {
  const { "Node Type": type, "Relation Name": table, "Index Name": index, "Index Cond": condition } = node;
  const isScan =
    type === "Seq Scan" || (/^Index( Only)? Scan$/.test(type) && !condition && !(index && short.has(index)));
  const own =
    table !== undefined && tenantTables.has(table) && !eitherOwner.has(table) && isScan ? [`${type} on ${table}`] : [];
  return [...own, ...(node.Plans ?? []).flatMap(scansIn)];
}
