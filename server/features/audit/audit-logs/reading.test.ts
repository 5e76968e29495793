import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedWorld, type World } from "#fixtures/world";
import { auditEntry } from "#server/audit/entry";
import { auditedServer } from "../../../test/audited-server.ts";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../../../test/harness.ts";
import { enrol, logIn, PASSWORD, seedPerson } from "../../../test/people.ts";

const ENTRIES = 5_000;
const actions = ["site.update", "site.create", "device.update", "contact.delete"];
const actors = ["ana@alpha.example", "ben@alpha.example", "100%@alpha.example"];
const resources = ["PC_01", "PCX01", "Branch", null];
const START = Date.parse("2026-02-01T00:00:00.000Z");
const HOUR = 3_600_000;

interface Planted {
  id: string;
  at: number;
  org: "first" | "second" | "foreign";
  action: string;
  actor: string;
  resource: string | null;
}

describe.each(databases)("reading a long audit log on %s", (database) => {
  const here = auditedServer(database);
  const all: Planted[] = [];

  beforeAll(async () => {
    const orgs = { first: here.world.a.orgId, second: here.world.a.secondOrgId, foreign: here.world.b.orgId };
    const entries = Array.from({ length: ENTRIES }, (_, at) => {
      const org = (["first", "second", "first", "foreign"] as const)[at % 4]!;
      const action = actions[at % 5 === 4 ? 0 : at % 4]!;
      const actor = actors[at % 3]!;
      const resource = resources[Math.floor(at / 7) % 4] ?? null;
      // Twelve entries of the same instant, so that pages need more than the time to be told apart.
      const now = new Date(START + Math.floor(at / 12) * HOUR);
      const event = {
        ...{ orgId: orgs[org], action, actorType: "user", actorEmail: actor, resourceType: "site", result: "success" },
        resourceName: resource,
      };
      const entry = auditEntry(event, { now });
      all.push({ id: entry.id, at: now.getTime(), org, action, actor, resource });
      return entry;
    });
    await here.record(entries);
  }, 120_000);

  const read = async (path: string, token = here.admin.token) => {
    const answer = await here.server.request("GET", `/audit-logs${path}`, { token });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body;
  };
  const newestFirst = (entries: Planted[]) =>
    entries.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1)).map(({ id }) => id);

  async function walk(path: string): Promise<{ ids: string[]; totals: number[] }> {
    const ids: string[] = [];
    const totals: number[] = [];
    for (let page = 1; ; page += 1) {
      const body = await read(`${path}&limit=100&page=${page}`);
      const rows = (body.entries ?? body.data) as { id: string }[];
      totals.push(body.pagination.total);
      if (rows.length === 0) return { ids, totals };
      ids.push(...rows.map(({ id }) => id));
    }
  }

  const from = "2026-02-03";
  const to = "2026-02-12";
  const filter = `user=100%25@alpha&action=SITE&resource=pc_0&from=${from}&to=${to}`;
  const wanted = () =>
    all.filter(
      ({ org, at, action, actor, resource }) =>
        org !== "foreign" &&
        actor.startsWith("100%") &&
        action.startsWith("site.") &&
        resource === "PC_01" &&
        at >= Date.parse(from) &&
        at < Date.parse(to) + 24 * HOUR,
    );

  it.each(["", "/logs", "/search"])("walk, total and filters of %s agree row for row (C37)", async (list) => {
    const q = list === "/search" ? "&q=site." : "";
    const expected = newestFirst(wanted());
    expect(expected.length).toBeGreaterThan(20);
    const { ids, totals } = await walk(`${list}?${filter}${q}`);
    expect(ids).toEqual(expected);
    expect(new Set(totals)).toEqual(new Set([expected.length]));
    const everything = await walk(`${list}?to=2026-02-28${q}`);
    const mine = all.filter(({ org, action }) => org !== "foreign" && (q === "" || action.startsWith("site.")));
    expect(everything.ids).toEqual(newestFirst(mine));
    const one = await walk(`${list}?to=2026-02-28&orgId=${here.world.a.secondOrgId}${q}`);
    expect(one.ids).toEqual(newestFirst(mine.filter(({ org }) => org === "second")));
  });

  it("without a count shows the same rows (C37)", async () => {
    const counted = await read(`/logs?${filter}&limit=100`);
    const uncounted = await read(`/logs?${filter}&limit=100&skipCount=true`);
    expect(uncounted.data).toEqual(counted.data);
    expect(uncounted.pagination).toMatchObject({ total: -1, totalPages: -1 });
  });

  it("exports hold what the same filters leave of a list, row for row (C37)", async () => {
    const expected = newestFirst(wanted());
    expect(expected.length).toBeGreaterThan(20);
    const filters = { user: "100%@alpha", action: "SITE", resource: "pc_0" };
    const posted = (format: "json" | "csv") =>
      here.server.request("POST", "/audit-logs/export", {
        token: here.admin.token,
        body: { format, filters, dateRange: { from, to } },
      });
    const idsOf = (csv: string) => (parse(csv, { columns: true }) as { id: string }[]).map(({ id }) => id);
    const json = (await posted("json")).body;
    expect(json.data.map(({ id }: { id: string }) => id)).toEqual(expected);
    expect(json.total).toBe(expected.length);
    expect(idsOf((await posted("csv")).body)).toEqual(expected);
    expect(idsOf(await read(`/export?${filter}`))).toEqual(expected);
  });

  it("a partner's member sees the organizations it manages, and counts no others (C37)", async () => {
    const selected = await here.server.signIn({
      role: "Partner Admin",
      partnerId: here.world.a.partnerId,
      orgAccess: "selected",
      orgIds: [here.world.a.secondOrgId],
    });
    const body = await read("/logs?to=2026-02-28&limit=1", selected.token);
    expect(body.pagination.total).toBe(all.filter(({ org }) => org === "second").length);
  });
});

describe.each(databases)("sign-ins that fail, on %s", (database) => {
  let server: TestServer;
  let world: World;
  beforeAll(async () => {
    server = await startTestServer(database);
    world = await seedWorld(server.db, server.services);
  });
  afterAll(() => server?.stop());

  it("are recorded for the person's organization only; those of unknown addresses are not recorded (C35)", async () => {
    const { orgId } = world.a;
    const known = await seedPerson(server, { role: "Org Admin", orgId, mfa: false });
    const { email, token } = await seedPerson(server, { role: "Org Admin", orgId, mfa: false });
    await enrol(server, token);
    expect((await logIn(server, known.email, "Wrong-Horse-7")).status).toBe(401);
    const unknown = await logIn(server, "nobody@unknown.example", "Wrong-Horse-7");
    expect([unknown.status, unknown.body.code]).toEqual([401, "INVALID_CREDENTIALS"]);
    const { tempToken } = (await logIn(server, email, PASSWORD)).body;
    const body = { tempToken, code: "000000" };
    expect((await server.request("POST", "/auth/mfa/verify", { body })).status).toBe(401);
    await server.db
      .updateTable("partnerServicePrincipalKeys")
      .set({ status: "revoked" })
      .where("id", "=", world.a.partnerKeyId)
      .execute();
    const headers = { "x-api-key": world.a.partnerKey };
    expect((await server.request("GET", "/partner-api/organizations", { headers })).status).toBe(401);

    const own = await server.signIn({ role: "Org Admin", orgId });
    const seenBy = async (who: SignedInUser, query: string) =>
      (await server.request("GET", `/audit-logs/logs?limit=100&${query}`, { token: who.token })).body.data as {
        action: string;
        result: string;
        ipAddress: string | null;
        user: { email: string };
      }[];
    const failed = async (who: SignedInUser, user: string) =>
      (await seenBy(who, `user=${encodeURIComponent(user)}`)).filter(({ result }) => result !== "success");
    await expect.poll(async () => (await failed(own, known.email)).length, { timeout: 10_000 }).toBe(1);
    await expect.poll(async () => (await failed(own, email)).length, { timeout: 10_000 }).toBe(1);
    for (const address of [known.email, email]) {
      const [entry] = await failed(own, address);
      expect(entry).toMatchObject({ result: expect.stringMatching(/^(denied|failure)$/), user: { email: address } });
      expect(entry?.ipAddress).toMatch(/127\.0\.0\.1|::1/);
    }
    const system = await server.signIn({ role: "System Admin" });
    expect(await seenBy(system, "user=nobody")).toEqual([]);
    const stranger = await server.signIn({ role: "Partner Admin", partnerId: world.b.partnerId });
    for (const address of [known.email, email, "nobody"]) expect(await failed(stranger, address)).toEqual([]);
  });
});
