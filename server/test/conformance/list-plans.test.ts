import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { alternatives, type JsonSchema, jsonSchemaOf } from "#contract/json-schema";
import type { Tenant } from "#fixtures/world";
import { contentHash } from "#server/audit/chain";
import { auditEntry } from "#server/audit/entry";
import { asOwner } from "../as-owner.ts";
import { makeDevices } from "../devices.ts";
import { databases } from "../harness.ts";
import { type Case, forUsers, type ScopeName } from "./cases.ts";
import { idFields } from "./ids.ts";
import { scansOf } from "./plan-of.ts";
import { asksAgent, type Swept, startSweep } from "./sweep.ts";
import { type Statement, watchStatements } from "./watch-statements.ts";

/**
 * No list scans a whole tenant table, whatever it is filtered and sorted by: every statement that lists run
 * is explained, and a plan that scans such a table fails. Checking plans instead of times needs few rows.
 */
const lists = forUsers.filter(
  (item) => item.endpoint.method === "GET" && item.endpoint.paging !== undefined && !asksAgent(item),
);
/** More devices than are sorted by themselves (`fleet/devices/page.ts`). */
const MANY = 2_010;

describe.each(databases)("plans of lists on %s", (database) => {
  let swept: Swept;
  let tenant: Tenant;
  const run: Statement[] = [];

  beforeAll(async () => {
    swept = await startSweep(database);
    // Most rows belong to other partners, so that an index over all rows is no shortcut.
    for (let others = 0; others < 3; others += 1) await grow(swept, await swept.freshTenant());
    tenant = await swept.freshTenant();
    await grow(swept, tenant);
    if (database === "postgres") await asOwner(swept.server, ["analyze"]);
    watchStatements(swept.server.services.store, (statement) => run.push(statement));
  }, 120_000);
  afterAll(async () => {
    vi.restoreAllMocks();
    await swept?.stop();
  });

  /** Plans do not depend on the values: a statement is explained once. */
  const known = new Set<string>();

  it("sees single reads, and what Kysely runs", async () => {
    const { token } = await swept.caller("partner", tenant);
    run.length = 0;
    expect((await swept.server.request("GET", "/users/me", { token })).status).toBe(200);
    // A transaction's reads are Kysely's own.
    await swept.server.services.store
      .connection("system")
      .transaction()
      .execute((tx) => tx.selectFrom("leases").select("name").execute());
    for (const table of ["sessions", "leases"])
      expect(run.filter(({ sql }) => sql.includes(`"${table}"`)).length, table).toBeGreaterThan(0);
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
          for (const statement of new Map(run.map((one) => [one.sql, one])).values()) {
            if (known.has(statement.sql)) continue;
            expect(
              await scansOf(swept.server.services.store, statement),
              `${scope} ${JSON.stringify(query)}\n${statement.sql}`,
            ).toEqual([]);
            known.add(statement.sql);
          }
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
