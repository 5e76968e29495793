import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mutates } from "#contract/core/endpoint";
import { jsonSchemaOf } from "#contract/json-schema";
import { places, rowOfRef, seedSite, type Tenant } from "#fixtures/world";
import { ownership, type TableName } from "#server/db/tables";
import type { Answer, DatabaseName } from "../../harness.ts";
import { allCases, type Case, caseOf, forUsers, isTrail, namedTenant, searchIn } from "../cases.ts";
import { type IdField, idFields, valueFor } from "../ids.ts";
import { knownIn } from "../ids-of.ts";
import { type CallOptions, type Swept, startSweep } from "../sweep.ts";

const text = (value: unknown) => JSON.stringify(value ?? null);
const totalOf = ({ body }: Answer): number | undefined => body.pagination?.total ?? body.total;

const idsAtFirstSite = (tenant: Tenant): string[] =>
  Object.entries(places)
    .filter(([, place]) => place === "first site")
    .map(([name]) => tenant[name as keyof Tenant]);

const names = (item: Case, tenant: Tenant, part: "params" | "query" | "body") =>
  idsAtFirstSite(tenant).some((id) => text(item.example(tenant)[part]).includes(id));

/** The example with this field naming that id. */
const withField = (item: Case, tenant: Tenant, field: IdField, id: string): CallOptions => {
  const example = item.example(tenant);
  return { tenant, [field.at]: { ...(example[field.at] as object), [field.name]: valueFor(field, id) } };
};

/** At most 100 rows, or as many as the list takes. */
function largestPage({ endpoint }: Case): string {
  const { query } = endpoint.schemas();
  const { maximum = 100 } = (query && jsonSchemaOf(query, "input").properties?.["limit"]) ?? {};
  return String(Math.min(100, Number(maximum)));
}

const refused = (answer: Answer) =>
  expect(
    [
      [403, "SITE_ACCESS_DENIED"],
      [404, "NOT_FOUND"],
    ],
    text(answer.body),
  ).toContainEqual([answer.status, answer.body.code]);

const inOrganization = forUsers.filter(({ endpoint }) => endpoint.access.scopes.includes("organization"));
const byPath = (items: readonly Case[]) => items.filter((item) => names(item, namedTenant, "params"));
const reads = inOrganization.filter((item) => item.endpoint.method === "GET" && !names(item, namedTenant, "params"));
const lists = reads.filter(({ endpoint }) => endpoint.paging !== undefined);

/** A caller confined to the second site sees, counts and changes nothing of the first (SITE rule, `server/docs/conventions.md`). */
export const sweepConfined = (database: DatabaseName) =>
  describe(`callers confined to a site on ${database}`, () => {
    let swept: Swept;
    /** What its first site holds grows once, before the tests. */
    let tenant: Tenant;
    let strangers: ReadonlySet<string>;
    /** Copies at the second site of the rows at the first; by the id of the original. */
    let known: ReadonlyMap<string, string>;
    const before = new Map<string, Answer>();
    /** This caller only reads, because its own acts would be in its trail. */
    let reader: string;

    beforeAll(async () => {
      swept = await startSweep(database);
      tenant = await swept.freshTenant();
      // Lists of users show and count members.
      await Promise.all([confined(tenant), unconfined(tenant)]);
      const place = { orgId: tenant.orgId, siteIds: [tenant.secondSiteId] };
      reader = (await swept.server.signIn({ role: "Org Admin", ...place })).token;
      for (const item of lists) before.set(item.name, await swept.call(item, { tenant, token: reader }));
      const copies = await copiesAt(tenant, tenant.siteId);
      const rows = [...idsAtFirstSite(tenant), ...copies.values()];
      strangers = new Set([...rows, ...(await changeFirstSite(new Set(rows)))]);
      known = await copiesAt(tenant, tenant.secondSiteId);
      // The caller's own site has audit entries too.
      const atOwnSite = { tenant, token: await unconfined(tenant), params: { id: tenant.secondSiteId } };
      expect((await swept.call(caseOf("sites.update"), atOwnSite)).status).toBe(200);
      await swept.server.settled();
    }, 120_000);
    afterAll(() => swept?.stop());

    const confined = async (of: Tenant) =>
      (await swept.caller("organization", of, { siteIds: [of.secondSiteId] })).token;
    const unconfined = async (of: Tenant) => (await swept.caller("organization", of)).token;

    /** Writes an audit entry of every action on rows of the first site; returns the ids of the entries. */
    async function changeFirstSite(rows: ReadonlySet<string>): Promise<string[]> {
      const token = await unconfined(tenant);
      const mutating = allCases.filter(({ endpoint }) => {
        const { kinds, scopes } = endpoint.access;
        const forAll = kinds.includes("user") && scopes.includes("organization");
        return forAll && mutates(endpoint) && endpoint.method !== "DELETE";
      });
      for (const item of byPath(mutating)) await swept.call(item, { tenant, token });
      await swept.call(caseOf("agents.rotateToken"), { tenant, token: tenant.agentToken });
      const entries = await entriesAbout(rows);
      expect(new Set(entries.map(({ resourceId }) => resourceId)).size).toBeGreaterThan(2);
      return entries.map(({ id }) => id);
    }

    async function entriesAbout(rows: ReadonlySet<string>) {
      await swept.server.settled();
      const entries = swept.db.selectFrom("auditLogs").select(["id", "resourceId", "actorType"]);
      return (await entries.execute()).filter(({ resourceId }) => rows.has(resourceId as string));
    }

    it.each(byPath(inOrganization))("$name refuses a row of another site", async (item) => {
      refused(await swept.call(item, { tenant, token: await confined(tenant) }));
      const own = item.endpoint.method === "GET" ? swept.world.a : await swept.freshTenant();
      const { person: _, ...ready } = await swept.prepared(item, own);
      const allowed = await swept.call(item, { ...ready, token: await unconfined(own) });
      expect(allowed.status, "refused for another reason than the site").toBeLessThan(400);
    });

    const byField = inOrganization.flatMap((item) =>
      idFields(item.endpoint)
        .filter(({ row }) => places[row] === "first site")
        .map((field) => ({ item, field, label: `${item.name} ${field.at}.${field.name}` })),
    );
    it.each(byField)("$label of another site is refused, or finds nothing", async ({ item, field }) => {
      const token = await confined(tenant);
      // A row of the other site in the path would be refused before the field is checked.
      const moved = new Map([...known, [tenant.siteId, tenant.secondSiteId]]);
      const given = Object.entries((item.example(tenant).params ?? {}) as Record<string, string>);
      const params = Object.fromEntries(given.map(([name, id]) => [name, moved.get(id) ?? id]));
      const sent = { ...withField(item, tenant, field, tenant[field.row]), params, token };
      // Where each row is judged by itself, the others may succeed: nothing happens to this one.
      if (item.example(namedTenant).confinedMay !== undefined)
        return void (await swept.unchanged(() => swept.call(item, sent)));
      const answer = await swept.call(item, sent);
      if (answer.status >= 300) return refused(answer);
      expect(mutates(item.endpoint), text(answer.body)).toBe(false);
      for (const id of strangers) expect(text(answer.body)).not.toContain(id);
      expect(totalOf(answer) ?? 0).toBe(0);
    });

    it.each(lists)("$name shows nothing of another site: no row, no count, no trail", async (item) => {
      const first = before.get(item.name) as Answer;
      if (first.status === 403) return refused(first);
      expect(first.status, text(first.body)).toBe(200);
      const after = await swept.call(item, { tenant, token: reader, query: { limit: largestPage(item) } });
      for (const id of strangers) for (const answer of [first, after]) expect(text(answer.body)).not.toContain(id);
      const all = text((await swept.call(item, { tenant, token: await unconfined(tenant) })).body);
      // Rows added at the own site count, rows added at the other do not. A trail grows with every act; what has no id,
      // such as a tag, is no row.
      const rows = (after.body[item.endpoint.paging?.items as string] ?? after.body.data) as readonly { id?: string }[];
      const added = rows.filter(({ id }) => [...known.values()].includes(id as string));
      if (totalOf(first) !== undefined && item.endpoint.columns.includes("id") && !isTrail(item))
        expect(totalOf(after)).toBe((totalOf(first) as number) + added.length);
      // A list that shows rows of sites to other callers shows this caller those of its own sites.
      if ([...strangers].some((id) => all.includes(id)))
        expect([...known.values(), tenant.secondSiteId].some((id) => text(after.body).includes(id))).toBe(true);
    });

    const trails = lists.filter(isTrail);
    it.each(trails)("$name shows no act of a device of another site", async (item) => {
      const query = { [searchIn(item) ?? "action"]: "agent.token" };
      const asked = (token: string) => swept.call(item, { tenant, token, onlyQuery: true, query });
      const answer = await asked(await confined(tenant));
      if (answer.status === 403) return refused(answer);
      const entries = await entriesAbout(new Set([tenant.deviceId]));
      const acts = new Set(entries.filter(({ actorType }) => actorType === "agent").map(({ id }) => id));
      expect(knownIn((await asked(await unconfined(tenant))).body, acts).length).toBeGreaterThan(0);
      expect(knownIn(answer.body, acts)).toEqual([]);
    });

    const others = reads.filter(({ endpoint }) => endpoint.paging === undefined);
    it.each(others)("$name tells nothing of another site", async (item) => {
      // Somebody who has tried nothing: the trail shows each his own attempts.
      const answer = await swept.call(item, { tenant, token: reader });
      for (const id of strangers) expect(text(answer.body)).not.toContain(id);
    });

    const wide = inOrganization.filter(
      (item) =>
        item.endpoint.method !== "GET" &&
        item.example(namedTenant).confinedMay === undefined &&
        !names(item, namedTenant, "params"),
    );
    it.each(wide)("$name changes nothing of the whole organization", async (item) => {
      const answer = await swept.call(item, { tenant, token: await confined(tenant) });
      expect(answer.status, text(answer.body)).toBe(403);
    });

    /** Everything of the first site once more at the given one; by the id at the first site. */
    async function copiesAt(of: Tenant, siteId: string): Promise<Map<string, string>> {
      const { services } = swept.server;
      const copy = await seedSite(swept.db, services, { ...of, siteId }, `copy-${services.random.uuid()}`);
      const owned = (Object.keys(ownership) as TableName[]).filter((table) => ownership[table].startsWith("org+site"));
      for (const table of owned) expect(copy.tables, `a site of the fixtures has nothing in ${table}`).toContain(table);
      const kinds = Object.values(rowOfRef).filter((name) => copy.tenant[name] !== of[name] && name !== "siteId");
      return new Map(kinds.map((name) => [of[name], copy.tenant[name]]));
    }
  });
