import { type CompiledQuery, DefaultQueryExecutor, sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { alternatives, type JsonSchema, jsonSchemaOf } from "#contract/json-schema";
import type { Tenant } from "#fixtures/world";
import { contentHash } from "#server/audit/chain";
import { auditEntry } from "#server/audit/entry";
import { snakeCase } from "#server/db/naming";
import { tableNames, tables } from "#server/db/tables";
import { makeDevices } from "../devices.ts";
import { type DatabaseName, databases } from "../harness.ts";
import { type Case, forUsers, type ScopeName } from "./cases.ts";
import { idFields } from "./ids.ts";
import { type Swept, startSweep } from "./sweep.ts";

/**
 * No list scans a whole tenant table, whatever it is filtered and sorted by: every statement that lists run
 * is explained, and a plan that scans such a table fails. Checking plans instead of times needs few rows.
 */
const lists = forUsers.filter(({ endpoint }) => endpoint.method === "GET" && endpoint.paging !== undefined);
const tenantTables = new Set(tableNames.filter((name) => tables[name].owner !== "system").map(snakeCase));
/** Statements that the server runs for itself and not for a list. */
const systemTables = new Set(tableNames.map(snakeCase).filter((name) => !tenantTables.has(name)));
/** Tables that grow with the fleet. Postgres may well scan the whole index of a smaller one. */
const large = new Set(["devices", "audit_logs"]);
/** More devices than are sorted by themselves (`fleet/devices/page.ts`). */
const MANY = 2_010;

describe.each(databases)("plans of lists on %s", (database) => {
  let swept: Swept;
  let tenant: Tenant;
  const run: CompiledQuery[] = [];

  beforeAll(async () => {
    swept = await startSweep(database);
    // Most rows belong to other partners, so that an index over all rows is no shortcut.
    for (let others = 0; others < 3; others += 1) await grow(swept, await swept.freshTenant());
    tenant = await swept.freshTenant();
    await grow(swept, tenant);
    if (database === "postgres") await sql`analyze`.execute(swept.db);
    const base = Object.getPrototypeOf(DefaultQueryExecutor.prototype) as DefaultQueryExecutor;
    const { executeQuery } = base;
    vi.spyOn(base, "executeQuery").mockImplementation(function (this: DefaultQueryExecutor, query) {
      run.push(query);
      return executeQuery.call(this, query) as never;
    });
  }, 120_000);
  afterAll(async () => {
    vi.restoreAllMocks();
    await swept?.stop();
  });

  const scopes = (item: Case) => item.endpoint.access.scopes.filter((scope) => scope !== "system") as ScopeName[];

  it.each(lists.map((item) => [item.name, item] as const))(
    "%s",
    async (_, item) => {
      for (const scope of scopes(item)) {
        const { token } = await swept.caller(scope, tenant);
        for (const query of queriesOf(item, tenant)) {
          run.length = 0;
          const answer = await swept.call(item, { tenant, token, query });
          if (answer.body?.nextCursor)
            await swept.call(item, { tenant, token, query: next(query, answer.body.nextCursor) });
          const statements = new Map(
            run.filter(({ query: { kind } }) => kind === "SelectQueryNode").map((one) => [one.sql, one]),
          );
          for (const statement of statements.values())
            expect(
              await scans(swept, database, tenant, statement),
              `${scope} ${JSON.stringify(query)}\n${statement.sql}`,
            ).toEqual([]);
        }
      }
    },
    120_000,
  );
});

async function grow({ server, db }: Swept, { orgId, siteId, secondOrgId, partnerId }: Tenant): Promise<void> {
  await makeDevices(
    server,
    Array.from({ length: MANY }, (_, index) => ({ orgId, siteId, tags: index % 3 === 0 ? ["kiosk"] : [] })),
  );
  const entry = (org: string) => {
    const event = { orgId: org, actorType: "system", action: "device.update", result: "success" };
    const content = auditEntry(event, { now: new Date(server.clock.now()) });
    return { ...content, checksum: contentHash(content), readerPartnerId: partnerId };
  };
  for (const org of [orgId, secondOrgId]) {
    const rows = Array.from({ length: MANY / 2 }, () => entry(org));
    await db.insertInto("auditLogs").values(rows).execute();
  }
}

const next = ({ sort: _, sortDir: __, ...query }: Record<string, unknown>, cursor: string) => ({ ...query, cursor });

/** Queries without a filter, with each filter, and in every order; two pages of cursor lists. */
function queriesOf({ endpoint }: Case, tenant: Tenant): Record<string, unknown>[] {
  const { query } = endpoint.schemas();
  const fields = Object.entries((query && jsonSchemaOf(query, "input").properties) ?? {});
  const rows = new Map(idFields(endpoint).map(({ name, row }) => [name, tenant[row]]));
  const paging = ["page", "limit", "cursor", "sort", "sortDir"];
  const filters = fields
    .filter(([name]) => !paging.includes(name))
    .map(([name, field]) => ({ [name]: rows.get(name) ?? anyValue(field) }));
  const options = (name: string) => (fields.find(([one]) => one === name)?.[1].enum ?? [undefined]) as unknown[];
  const orders = options("sort").flatMap((sort) => options("sortDir").map((sortDir) => ({ sort, sortDir })));
  const sorted = orders.filter(({ sort }) => sort !== undefined);
  const walked = sorted.flatMap((order) => [{}, ...filters].map((filter) => ({ ...filter, ...order, limit: "2" })));
  return [{}, { page: "2" }, ...filters, ...walked];
}

function anyValue(field: JsonSchema): unknown {
  for (const option of alternatives(field)) {
    if (option.enum) return option.enum[0];
    if (option.type === "boolean") return "true";
    if (option["format"] === "uuid") return "0190c0de-0000-7000-8000-000000000000";
    if (option["format"] === "date-time") return "2026-01-01T00:00:00.000Z";
  }
  return "2026-01-01";
}

/** Tables that the plan of a statement reads without an index condition. */
async function scans(
  { server }: Swept,
  database: DatabaseName,
  { partnerId }: Tenant,
  { sql: text, parameters }: CompiledQuery,
): Promise<string[]> {
  const { store } = server.services;
  const explained = (prefix: string): CompiledQuery =>
    ({ ...sql.raw(prefix + text).compile(store.connection("system")), parameters }) as CompiledQuery;
  if (database === "sqlite") {
    const { rows } = await store
      .connection("system")
      .executeQuery<{ detail: string }>(explained("explain query plan "));
    const plan = rows.map(({ detail }) => detail);
    const made = plan.map((line) => /^(?:CO-ROUTINE|MATERIALIZE) (\w+)/.exec(line)?.[1]);
    const scanned = (line: string) => /^SCAN (\w+)/.exec(line)?.[1] ?? "";
    return plan.filter((line) => tenantTables.has(scanned(line)) && !made.includes(scanned(line)));
  }
  const named = (tables: ReadonlySet<string>) => [...tables].some((table) => text.includes(`"${table}"`));
  if (!named(large) || named(systemTables)) return [];
  return store
    .connection(`partner:${partnerId}`)
    .transaction()
    .execute(async (tx) => {
      await sql`set local enable_seqscan = off`.execute(tx);
      const { rows } = await tx.executeQuery<Record<string, [{ Plan: PlanNode }]>>(explained("explain (format json) "));
      return scansOf((Object.values(rows[0]!)[0] as [{ Plan: PlanNode }])[0].Plan);
    });
}

interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Cond"?: string;
  Plans?: PlanNode[];
}

/** Reading a whole index in order counts as a scan too. */
function scansOf(node: PlanNode): string[] {
  const table = node["Relation Name"];
  const isScan =
    node["Node Type"] === "Seq Scan" || (/^Index( Only)? Scan$/.test(node["Node Type"]) && !node["Index Cond"]);
  const own = table !== undefined && large.has(table) && isScan ? [`${node["Node Type"]} on ${table}`] : [];
  return [...own, ...(node.Plans ?? []).flatMap(scansOf)];
}
