import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { databases } from "../harness.ts";
import { type Case, cases, forUsers, type ScopeName, type Swept, startSweep } from "./sweep.ts";

describe.each(databases)("tenancy on %s", (database) => {
  let swept: Swept;
  beforeAll(async () => {
    swept = await startSweep(database);
  });
  afterAll(() => swept?.server.stop());

  const random = () => swept.server.services.random.uuid();
  /** What the caller sees, without what differs by design: the id it sent itself. */
  const seen = (answer: { status: number; body: unknown }, sent: readonly string[]) => {
    let text = JSON.stringify({ status: answer.status, body: answer.body });
    for (const id of sent) text = text.replaceAll(id, "<id>");
    return text.replace(/"requestId":"[^"]*"/g, '"requestId":"-"').replace(/"(evaluatedAt|verifiedAt)":"[^"]*"/g, "");
  };
  const tenantScopes = (item: Case): ScopeName[] => item.endpoint.access.scopes.filter((scope) => scope !== "system");

  const byPath = forUsers.filter((item) => item.endpoint.path.includes(":") && tenantScopes(item).length > 0);
  it.each(byPath)("$name answers another tenant's id exactly like an id of nobody", async (item) => {
    const { a, b } = swept.world;
    for (const scope of tenantScopes(item)) {
      const { token } = await swept.caller(scope, b);
      const theirs = item.example(a).params as Record<string, string>;
      const nobodys = Object.fromEntries(Object.keys(theirs).map((name) => [name, random()]));
      const query = replaced(item.example(b).query, new Map());
      const body = item.example(b).body;
      const foreign = await swept.call(item, { tenant: b, token, params: theirs, query, body });
      const unknown = await swept.call(item, { tenant: b, token, params: nobodys, query, body });
      expect(foreign.status, JSON.stringify(foreign.body)).toBeGreaterThanOrEqual(400);
      expect(seen(foreign, Object.values(theirs))).toBe(seen(unknown, Object.values(nobodys)));
    }
  });

  const idsOf = (value: unknown, known: ReadonlySet<string>): string[] =>
    [...JSON.stringify(value ?? null).matchAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g)]
      .map((match) => match[0])
      .filter((id) => known.has(id));
  const named = cases.filter((item) =>
    /Id"/.test(
      JSON.stringify(item.example(fakeTenant).query ?? {}) + JSON.stringify(item.example(fakeTenant).body ?? {}),
    ),
  );

  it.each(named.filter((item) => tenantScopes(item).length > 0))(
    "$name answers another tenant's id in query or body exactly like an id of nobody",
    async (item) => {
      const { a, b } = swept.world;
      for (const scope of tenantScopes(item)) {
        const { token } = await swept.caller(scope, b);
        const inA = item.example(a);
        const ids = new Set(idsOf([inA.query, inA.body], new Set(Object.values(a) as string[])));
        const swap = new Map([...ids].map((id) => [id, random()]));
        const params = item.example(b).params as Record<string, string> | undefined;
        const foreign = await swept.call(item, {
          tenant: b,
          token,
          query: inA.query as never,
          body: inA.body,
          ...(params ? { params } : {}),
        });
        const unknown = await swept.call(item, {
          tenant: b,
          token,
          query: replaced(inA.query, swap),
          body: replaced(inA.body, swap),
          ...(params ? { params } : {}),
        });
        expect(seen(foreign, [...ids])).toBe(seen(unknown, [...swap.values()]));
      }
    },
  );

  const forPartnerKeys = cases.filter(({ endpoint }) => endpoint.access.kinds.includes("partnerKey"));
  it.each(forPartnerKeys)(
    "$name shows a partner key nothing of another partner, whatever id it names",
    async (item) => {
      const { a, b } = swept.world;
      const idsOfA = new Set(Object.values(a) as string[]);
      const headers = { "x-api-key": b.partnerKey };
      const own = await swept.call(item, { tenant: await swept.freshTenant(), headers, query: {} as never });
      expect(idsOf(own.body, idsOfA)).toEqual([]);
      const inA = item.example(a);
      const swap = new Map(idsOf([inA.query, inA.body], idsOfA).map((id) => [id, random()]));
      if (swap.size === 0) return;
      const foreign = await swept.call(item, { tenant: a, headers });
      expect(foreign.status).toBeGreaterThanOrEqual(400);
      const unknown = await swept.call(item, {
        tenant: b,
        headers,
        query: replaced(inA.query, swap),
        body: replaced(inA.body, swap),
      });
      expect(seen(foreign, [...swap.keys()])).toBe(seen(unknown, [...swap.values()]));
    },
  );

  const lists = forUsers.filter((item) => item.endpoint.paging !== undefined && !item.endpoint.path.includes(":"));
  it.each(lists)("$name shows a tenant nothing of another: no row, no count", async (item) => {
    const { a, b } = swept.world;
    const idsOfA = new Set(Object.values(a) as string[]);
    for (const scope of tenantScopes(item)) {
      const { token } = await swept.caller(scope, b);
      const before = await swept.call(item, { tenant: b, token });
      expect(before.status, JSON.stringify(before.body)).toBe(200);
      expect(idsOf(before.body, idsOfA)).toEqual([]);
      const total = before.body.pagination?.total ?? before.body.total;
      await swept.freshTenant();
      const after = await swept.call(item, { tenant: b, token });
      expect(after.body.pagination?.total ?? after.body.total).toBe(total);
    }
  });

  const forAgents = cases.filter((item) => item.endpoint.access.kinds.includes("agent"));
  it.each(forAgents)("$name answers another device's id like an id of nobody", async (item) => {
    const { a, b } = swept.world;
    const foreign = await swept.call(item, { tenant: a, token: b.agentToken });
    const unknown = await swept.call(item, { tenant: a, token: b.agentToken, params: { id: random() } });
    expect(foreign.status).toBe(404);
    expect(seen(foreign, [])).toBe(seen(unknown, []));
  });
});

const fakeTenant = new Proxy(
  {},
  { get: (_, name) => `00000000-0000-4000-8000-${String(name).length.toString(16).padStart(12, "0")}` },
) as never;

function replaced<T>(value: T, swap: ReadonlyMap<string, string>): never {
  if (value === undefined) return undefined as never;
  let text = JSON.stringify(value);
  for (const [from, to] of swap) text = text.replaceAll(from, to);
  return JSON.parse(text) as never;
}
