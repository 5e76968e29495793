import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mutates } from "#contract/core/endpoint";
import type { Tenant } from "#fixtures/world";
import type { Answer, DatabaseName, SignedInUser } from "../../harness.ts";
import {
  type Case,
  caseOf,
  cases,
  forAgents,
  forPartnerKeys,
  forUsers,
  isTrail,
  type ScopeName,
  searchIn,
} from "../cases.ts";
import { A_VALUE, fillNextDoor } from "../fill.ts";
import { idFields, valueFor } from "../ids.ts";
import { idsOfRows, knownIn } from "../ids-of.ts";
import { type Swept, startSweep } from "../sweep.ts";

const tenantScopes = (item: Case): ScopeName[] => item.endpoint.access.scopes.filter((scope) => scope !== "system");
/** Reads that name no row: lists, counts, and what is put together from rows. A read that is recorded adds to the next one. */
const lists = forUsers
  .filter(({ endpoint }) => endpoint.method === "GET" && !endpoint.path.includes(":") && !mutates(endpoint))
  .filter((item) => tenantScopes(item).length > 0);
const totalOf = ({ body }: Answer): unknown => body.pagination?.total ?? body.total;

/** Answers of lists before other rows were added, by list and caller. */
type Before = Map<string, Answer>;

/** Nobody sees, counts or changes anything of another tenant or of another organization of the same partner. */
export const sweepTenancy = (database: DatabaseName) =>
  describe(`tenancy on ${database}`, () => {
    let swept: Swept;
    let viewer: Tenant;
    let neighbour: Tenant;
    let ofOthers: ReadonlySet<string>;
    let ofNextDoor: ReadonlySet<string>;
    const before: Before = new Map();

    beforeAll(async () => {
      swept = await startSweep(database);
      [viewer, neighbour] = [await swept.freshTenant(), await swept.freshTenant()];
      const ofNeighbour = swept.db.updateTable("devices").where("orgId", "=", neighbour.orgId);
      await ofNeighbour.set({ customFields: A_VALUE }).execute();
      for (const item of lists) {
        for (const scope of tenantScopes(item)) {
          before.set(`viewer ${item.name} ${scope}`, await seenBy(item, scope, viewer, {}));
          before.set(`neighbour ${item.name} ${scope}`, await seenBy(item, scope, neighbour, confinedTo(scope)));
        }
      }
      await fillNextDoor(swept, neighbour);
      await fillNextDoor(swept, swept.world.a);
      const { a, b } = swept.world;
      const [partnerIds, orgIds] = [[a, b].map((one) => one.partnerId), [a, b, neighbour].map((one) => one.orgId)];
      const seconds = [a, b, neighbour].map((one) => one.secondOrgId);
      partnerIds.push(neighbour.partnerId);
      ofOthers = await idsOfRows(swept.db, { partnerIds, orgIds: [...orgIds, ...seconds] });
      ofNextDoor = await idsOfRows(swept.db, { orgIds: [neighbour.secondOrgId] });
    }, 120_000);
    afterAll(() => swept?.stop());

    const random = () => swept.server.services.random.uuid();
    const confinedTo = (scope: ScopeName) =>
      scope === "partner" ? { orgAccess: "selected" as const, orgIds: [neighbour.orgId] } : {};
    async function seenBy(item: Case, scope: ScopeName, tenant: Tenant, options: Parameters<Swept["caller"]>[2]) {
      const { token } = await swept.caller(scope, tenant, options);
      return swept.call(item, { tenant, token });
    }

    /** The answer without the id that the caller sent, which differs by design. */
    const seen = (answer: { status: number; body: unknown }, sent: readonly string[]) => {
      let text = JSON.stringify({ status: answer.status, body: answer.body });
      for (const id of sent) text = text.replaceAll(id, "<id>");
      // A cursor is sealed anew each time, and what was made has an id of its own.
      return text
        .replace(/^(\{"status":201,"body":\{)"id":"[^"]*"/, "$1")
        .replace(/"requestId":"[^"]*"/g, '"requestId":"-"')
        .replace(/"(evaluatedAt|verifiedAt|cursor)":"[^"]*"/g, "");
    };

    const byPath = forUsers.filter((item) => item.endpoint.path.includes(":") && tenantScopes(item).length > 0);
    it.each(byPath)("$name answers another tenant's id exactly like an unknown id", async (item) => {
      const { a, b } = swept.world;
      for (const scope of tenantScopes(item)) {
        const { token } = await swept.caller(scope, b);
        const theirs = item.example(a).params as Record<string, string>;
        const ids = Object.keys(theirs).filter((name) => item.endpoint.refs[name] !== "opaque");
        const nobodys = Object.fromEntries(ids.map((name) => [name, random()]));
        const foreign = await swept.call(item, { tenant: b, token, params: theirs });
        const unknown = await swept.call(item, { tenant: b, token, params: nobodys });
        expect(foreign.status, JSON.stringify(foreign.body)).toBeGreaterThanOrEqual(400);
        expect(seen(foreign, Object.values(theirs))).toBe(seen(unknown, Object.values(nobodys)));
      }
    });

    const byField = forUsers
      .filter((item) => tenantScopes(item).length > 0)
      .flatMap((item) => idFields(item.endpoint).map((field) => ({ item, field })))
      .map(({ item, field }) => ({ item, field, label: `${item.name} ${field.at}.${field.name}` }));
    it.each(byField)("$label answers another tenant's id exactly like an unknown id", async ({ item, field }) => {
      const { a, b } = swept.world;
      for (const scope of tenantScopes(item)) {
        const tenant = item.endpoint.method === "GET" ? b : await swept.freshTenant();
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

    it.each(forPartnerKeys)(
      "$name shows a partner key nothing of another partner, whatever id it names",
      async (item) => {
        const { a, b } = swept.world;
        const ofA = new Set(Object.values(a) as string[]);
        const headers = { "x-api-key": b.partnerKey };
        const own = await swept.call(item, { tenant: await swept.freshTenant(), headers, query: {} });
        expect(knownIn(own.body, ofA)).toEqual([]);
        const inA = item.example(a);
        const swap = new Map(knownIn([inA.query, inA.body], ofA).map((id) => [id, random()]));
        if (swap.size === 0) return;
        const foreign = await swept.call(item, { tenant: a, headers });
        expect(foreign.status).toBeGreaterThanOrEqual(400);
        const [query, body] = [replaced(inA.query, swap), replaced(inA.body, swap)];
        const unknown = await swept.call(item, { tenant: b, headers, query, body });
        expect(seen(foreign, [...swap.keys()])).toBe(seen(unknown, [...swap.values()]));
      },
    );

    it.each(lists)("$name shows a tenant nothing of another: no row, no count, no difference", async (item) => {
      for (const scope of tenantScopes(item)) {
        const first = before.get(`viewer ${item.name} ${scope}`) as Answer;
        expect(first.status, JSON.stringify(first.body)).toBe(200);
        const after = await seenBy(item, scope, viewer, {});
        for (const answer of [first, after]) expect(knownIn(answer.body, ofOthers)).toEqual([]);
        expect(totalOf(after)).toBe(totalOf(first));
        expect(seen(after, [])).toBe(seen(first, []));
      }
    });

    it.each(lists)(
      "$name shows nothing of the organization next door, of the same partner: no row, no count, no difference",
      async (item) => {
        for (const scope of tenantScopes(item)) {
          const first = before.get(`neighbour ${item.name} ${scope}`) as Answer;
          if (first.status === 403) {
            expect(first.body.code).toBe("FULL_PARTNER_ACCESS_REQUIRED");
            continue;
          }
          expect(first.status, JSON.stringify(first.body)).toBe(200);
          const after = await seenBy(item, scope, neighbour, confinedTo(scope));
          for (const answer of [first, after]) expect(knownIn(answer.body, ofNextDoor)).toEqual([]);
          expect(totalOf(after)).toBe(totalOf(first));
          expect(seen(after, [])).toBe(seen(first, []));
        }
      },
    );

    it.each(forPartnerKeys.filter(({ endpoint }) => endpoint.method === "GET"))(
      "$name shows a partner key of one organization nothing of the one next door",
      async (item) => {
        const { partnerPrincipalId: principalId, partnerId, orgId } = neighbour;
        const headers = { "x-api-key": neighbour.partnerKey };
        const principal = swept.db.updateTable("partnerServicePrincipals").where("id", "=", principalId);
        const asked = () => swept.call(item, { tenant: neighbour, headers, query: {}, onlyQuery: true });
        await principal.set({ orgAccess: "all" }).execute();
        const everything = await asked();
        expect(knownIn(everything.body, ofNextDoor).length, "there is nothing next door").toBeGreaterThan(0);
        await principal.set({ orgAccess: "selected" }).execute();
        const row = { principalId, partnerId, orgId };
        const orgs = swept.db.insertInto("partnerServicePrincipalOrgs").values(row);
        await orgs.onConflict((conflict) => conflict.doNothing()).execute();
        const answer = await asked();
        expect(answer.status).toBe(200);
        expect(answer.body.data.length).toBeGreaterThan(0);
        expect(knownIn(answer.body, ofNextDoor)).toEqual([]);
        expect(answer.body.data.length).toBeLessThan(everything.body.data.length);
      },
    );

    it.each(forAgents)("$name answers another device's id like an unknown id", async (item) => {
      const { a, b } = swept.world;
      const foreign = await swept.call(item, { tenant: a, token: b.agentToken });
      const unknown = await swept.call(item, { tenant: a, token: b.agentToken, params: { id: random() } });
      expect(foreign.status).toBe(404);
      expect(seen(foreign, [])).toBe(seen(unknown, []));
    });

    const searches = lists.filter((item) => isTrail(item) && searchIn(item) !== undefined);
    it.each(searches)("$name finds no entry of another tenant by any of its words", async (item) => {
      const { a } = swept.world;
      const admin = await swept.caller("partner", a);
      const words = [a.orgId, a.secondOrgId, a.siteId, admin.email, "alpha", "Warehouse"];
      const searched = async (who: SignedInUser, tenant: Tenant, q: string) =>
        swept.call(item, { tenant, token: who.token, query: { [searchIn(item) as string]: q }, onlyQuery: true });
      const owners: [ScopeName, Tenant][] = [
        ["organization", viewer],
        ["partner", viewer],
      ];
      const found = await Promise.all(words.map((q) => searched(admin, a, q)));
      expect(found.filter((answer) => (totalOf(answer) as number) > 0).length, "nothing to be found").toBeGreaterThan(
        2,
      );
      for (const [scope, tenant] of owners) {
        const who = await swept.caller(scope, tenant);
        for (const q of words) {
          const answer = await searched(who, tenant, q);
          expect([q, knownIn(answer.body[item.endpoint.paging?.items as string], ofOthers), totalOf(answer)]).toEqual([
            q,
            [],
            0,
          ]);
        }
      }
    });

    const entries = cases.filter((item) => item === caseOf("auditLogs.getLog"));
    it.each(entries)("$name shows no entry of another tenant, of whatever chain", async (item) => {
      const rows = await swept.db.selectFrom("auditLogs").select(["id", "orgId", "partnerId"]).execute();
      const { a } = swept.world;
      const chains = [a.orgId, a.secondOrgId, a.partnerId, null];
      for (const chain of chains) {
        const id = rows.find((row) => (row.orgId ?? row.partnerId) === chain)?.id;
        if (id === undefined) continue;
        for (const scope of tenantScopes(item)) {
          const { token } = await swept.caller(scope, viewer);
          const foreign = await swept.call(item, { tenant: viewer, token, params: { id } });
          expect([chain, foreign.status]).toEqual([chain, 404]);
        }
      }
    });
  });

function replaced<T>(value: T, swap: ReadonlyMap<string, string>): never {
  if (value === undefined) return undefined as never;
  let text = JSON.stringify(value);
  for (const [from, to] of swap) text = text.replaceAll(from, to);
  return JSON.parse(text) as never;
}
