import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Tenant } from "#fixtures/world";
import { type Answer, databases } from "../harness.ts";
import { idFields, valueFor } from "./ids.ts";
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
  it.each(byPath)("$name answers another tenant's id exactly like an unknown id", async (item) => {
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
    [...JSON.stringify(value ?? null).matchAll(uuids)].map((match) => match[0]).filter((id) => known.has(id));
  const byField = forUsers
    .filter((item) => tenantScopes(item).length > 0)
    .flatMap((item) => idFields(item.endpoint).map((field) => ({ item, field })))
    .map(({ item, field }) => ({ item, field, label: `${item.name} ${field.at}.${field.name}` }));

  it.each(byField)("$label answers another tenant's id exactly like an unknown id", async ({ item, field }) => {
    const { a } = swept.world;
    for (const scope of tenantScopes(item)) {
      const tenant = await swept.freshTenant();
      const { token } = await swept.caller(scope, tenant);
      const own = item.example(tenant);
      const asked = (id: string) => {
        const value = { ...(own[field.at] as object), [field.name]: valueFor(field, id) };
        return swept.call(item, { tenant, token, [field.at]: value });
      };
      const [theirs, nobodys] = [a[field.row], random()];
      const foreign = await asked(theirs);
      const unknown = await asked(nobodys);
      expect(seen(foreign, [theirs])).toBe(seen(unknown, [nobodys]));
    }
  });

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

  const lists = forUsers.filter((item) => item.endpoint.paging !== undefined && tenantScopes(item).length > 0);
  const totalOf = ({ body }: Answer): unknown => body.pagination?.total ?? body.total;
  it.each(lists)("$name shows a tenant nothing of another: no row, no count", async (item) => {
    const { a, b } = swept.world;
    const idsOfA = new Set(Object.values(a) as string[]);
    for (const scope of tenantScopes(item)) {
      const { token } = await swept.caller(scope, b);
      const before = await swept.call(item, { tenant: b, token });
      expect(before.status, JSON.stringify(before.body)).toBe(200);
      expect(idsOf(before.body, idsOfA)).toEqual([]);
      await swept.freshTenant();
      const after = await swept.call(item, { tenant: b, token });
      expect(totalOf(after)).toBe(totalOf(before));
    }
  });

  it.each(lists)(
    "$name shows nothing of the organization next door, of the same partner: no row, no count",
    async (item) => {
      const { server } = swept;
      for (const scope of tenantScopes(item)) {
        const tenant = await swept.freshTenant();
        const selected = scope === "partner" ? { orgAccess: "selected" as const, orgIds: [tenant.orgId] } : {};
        const { token } = await swept.caller(scope, tenant, selected);
        const before = await swept.call(item, { tenant, token });
        if (before.status === 403) {
          expect(before.body.code).toBe("FULL_PARTNER_ACCESS_REQUIRED");
          continue;
        }
        expect(before.status, JSON.stringify(before.body)).toBe(200);
        const strangers = await fillNextDoor(swept, tenant);
        expect(strangers.size).toBeGreaterThan(8);
        await server.settled();
        const after = await swept.call(item, { tenant, token });
        for (const answer of [before, after]) expect(idsOf(answer.body, strangers)).toEqual([]);
        expect(totalOf(after)).toBe(totalOf(before));
        if (idsOf(after.body, new Set([tenant.secondOrgId])).length > 0)
          throw new Error("names the organization next door");
      }
    },
  );

  it.each(forPartnerKeys.filter(({ endpoint }) => endpoint.method === "GET"))(
    "$name shows a partner key of one organization nothing of the one next door",
    async (item) => {
      const tenant = await swept.freshTenant();
      const { partnerPrincipalId: principalId, partnerId, orgId } = tenant;
      await swept.server.db
        .updateTable("partnerServicePrincipals")
        .set({ orgAccess: "selected" })
        .where("id", "=", principalId)
        .execute();
      await swept.server.db
        .insertInto("partnerServicePrincipalOrgs")
        .values({ principalId, partnerId, orgId })
        .execute();
      const strangers = await fillNextDoor(swept, tenant);
      const headers = { "x-api-key": tenant.partnerKey };
      const answer = await swept.call(item, { tenant, headers, query: {}, onlyQuery: true });
      expect(answer.status).toBe(200);
      expect(answer.body.data.length).toBeGreaterThan(0);
      expect(idsOf(answer.body, strangers)).toEqual([]);
      const everything = await swept.call(item, {
        tenant: await swept.freshTenant(),
        headers,
        query: {},
        onlyQuery: true,
      });
      expect(everything.body.data.length).toBe(answer.body.data.length);
    },
  );

  const forAgents = cases.filter((item) => item.endpoint.access.kinds.includes("agent"));
  it.each(forAgents)("$name answers another device's id like an unknown id", async (item) => {
    const { a, b } = swept.world;
    const foreign = await swept.call(item, { tenant: a, token: b.agentToken });
    const unknown = await swept.call(item, { tenant: a, token: b.agentToken, params: { id: random() } });
    expect(foreign.status).toBe(404);
    expect(seen(foreign, [])).toBe(seen(unknown, []));
  });
});

const uuids = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/**
 * Runs the example of every create for the tenant's second organization, as its partner's administrator, and enrols a
 * device there. Answers the ids of all that came of it, the organization's own included.
 */
async function fillNextDoor(swept: Swept, tenant: Tenant): Promise<Set<string>> {
  const { server } = swept;
  const { token } = await swept.caller("partner", tenant);
  const made = new Set([tenant.secondOrgId]);
  const note = (answer: Answer) => {
    for (const [id] of JSON.stringify(answer.body).matchAll(uuids)) made.add(id);
    return answer;
  };
  const post = async (path: string, body: object) => {
    const answer = note(await server.request("POST", path, { token, body }));
    expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).toBe(201);
    return answer.body;
  };
  const site = await post("/orgs/sites", { orgId: tenant.secondOrgId, name: "Next door" });
  const there: Tenant = { ...tenant, orgId: tenant.secondOrgId, siteId: site.id, secondSiteId: site.id };
  const ofOrganization = forUsers.filter(
    ({ endpoint, ...item }) =>
      endpoint.status === 201 &&
      endpoint.access.scopes.includes("partner") &&
      item.example(there).story === undefined &&
      JSON.stringify([item.example(there).params, (item.example(there).body as { orgId?: string })?.orgId]).includes(
        there.orgId,
      ),
  );
  for (const item of ofOrganization) {
    const answer = note(await swept.call(item, { tenant: there, token }));
    expect(answer.status, `${item.name}: ${JSON.stringify(answer.body)}`).toBe(201);
  }
  const { key } = await post("/enrollment-keys", { orgId: there.orgId, name: "next door" });
  const enrolment = {
    ...(cases.find(({ name }) => name === "agents.enroll")!.example(there).body as object),
    enrollmentKey: key,
  };
  await post("/agents/enroll", enrolment);
  for (const shared of [tenant.partnerId, tenant.orgId, ...sharedRoles(made, there)]) made.delete(shared);
  return made;
}

/** Ids that belong to no tenant: those of built-in roles. */
const sharedRoles = (ids: ReadonlySet<string>, tenant: Tenant): string[] => {
  const known = JSON.stringify(cases.map((item) => item.example(tenant).body ?? null));
  return [...ids].filter((id) => known.includes(`"roleId":"${id}"`));
};

function replaced<T>(value: T, swap: ReadonlyMap<string, string>): never {
  if (value === undefined) return undefined as never;
  let text = JSON.stringify(value);
  for (const [from, to] of swap) text = text.replaceAll(from, to);
  return JSON.parse(text) as never;
}
