import { type CompiledQuery, sql } from "kysely";
import type { Store } from "#server/db/dialect/index";
import { snakeCase } from "#server/db/naming";
import { type Ownership, tableNames, tables } from "#server/db/tables";
import type { Statement } from "./watch-statements.ts";

const ownedBy = (owns: (owner: Ownership) => boolean) =>
  new Set(tableNames.filter((name) => owns(tables[name].owner)).map(snakeCase));
const tenantTables = ownedBy((owner) => owner !== "system");
/**
 * A row is a partner's or an organization's, or of a person in either: a condition with an OR over subqueries, for
 * which Postgres reads the table. They hold settings and people, not what grows with a fleet.
 */
const eitherOwner = ownedBy((owner) => owner.startsWith("tenant") || owner === "member");
/** The policy of people asks these by the person, or reads them where that is cheaper. */
for (const table of ["organization_users", "partner_users"]) eitherOwner.add(table);

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

interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Cond"?: string;
  "Recheck Cond"?: string;
  Plans?: PlanNode[];
}

const onPostgres = (store: Store, statement: Statement): Promise<string[]> =>
  store
    .connection(statement.wall)
    .transaction()
    .execute(async (tx) => {
      await sql`set local enable_seqscan = off`.execute(tx);
      await sql`set local enable_sort = off`.execute(tx);
      const explain = explained(store, "explain (format json) ", statement);
      const { rows } = await tx.executeQuery<Record<string, [{ Plan: PlanNode }]>>(explain as never);
      return scansIn((Object.values(rows[0]!)[0] as [{ Plan: PlanNode }])[0].Plan);
    });

/** Postgres may well read the whole index of a table that is small in this test. */
const large = new Set(["devices", "audit_logs"]);

/**
 * A table is read although that is switched off, so no index serves; or a large index is read whole, in its order; or
 * all devices of a partner are sorted, though that is switched off too, so no index has them in this order.
 */
function scansIn(node: PlanNode): string[] {
  const { "Node Type": type, "Relation Name": table = "", "Index Cond": condition } = node;
  const isWhole = /^Index( Only)? Scan$/.test(type) && !condition && large.has(table);
  const isJudged = tenantTables.has(table) && !eitherOwner.has(table);
  const own = isJudged && (type === "Seq Scan" || isWhole) ? [`${type} on ${table}`] : [];
  if (type === "Sort" && readsBy(node, "devices", /^\(*partner_id = /)) own.push("Sort of devices");
  return [...own, ...(node.Plans ?? []).flatMap(scansIn)];
}

/** Whether rows of this table, found by this condition, are below a node. */
function readsBy(node: PlanNode, table: string, by: RegExp): boolean {
  const { "Relation Name": of, "Index Cond": condition = node["Recheck Cond"] ?? "", Plans: below = [] } = node;
  return (of === table && by.test(condition)) || below.some((one) => readsBy(one, table, by));
}
