import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FilterGroup } from "#contract/core/filters/condition";
import { filterOf } from "#fixtures/nouns/fleet/saved-filters";
import { seedTenant, type Tenant } from "#fixtures/world";
import { auditOf } from "../../../test/audit-of.ts";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../../../test/harness.ts";
import { FILTER_BYTES_MAX, FILTERS_MAX } from "./rules.ts";

const NAME = "Windows";
const conditions = filterOf("windows");

describe.each(databases)("saved filters on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let other: Tenant;
  let admin: SignedInUser;
  let member: SignedInUser;
  let confined: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    other = await seedTenant(server.db, server.services, "other");
    admin = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
    member = await server.signIn({ role: "Org Admin", orgId: acme.orgId });
    confined = await server.signIn({ role: "Org Admin", orgId: acme.orgId, siteIds: [acme.siteId] });
  });
  beforeEach(() => server.db.deleteFrom("savedFilters").execute());
  afterAll(() => server?.stop());

  const send = (method: string, path: string, body?: object, { token } = admin) =>
    server.request(method, path, { token, ...(body ? { body } : {}) });
  const create = (body: object, as?: SignedInUser) => send("POST", "/filters", { name: NAME, conditions, ...body }, as);
  async function made(body: object = {}, as?: SignedInUser) {
    const answer = await create({ orgId: acme.orgId, ...body }, as);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body as { id: string; orgId: string };
  }
  const all = () => server.db.selectFrom("savedFilters").selectAll().execute();
  const names = async (query = "", as?: SignedInUser) =>
    (await send("GET", `/filters${query}`, undefined, as)).body.data.map(({ name }: { name: string }) => name);
  const outcome = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];

  it("are kept as they were sent, changed field by field, and shown when they are deleted", async () => {
    const first = await made({ description: "  of the office  " });
    expect(first).toEqual({
      ...{ id: expect.any(String), orgId: acme.orgId, name: NAME, description: "of the office", conditions },
      ...{ createdBy: admin.userId, createdAt: server.clock.now(), updatedAt: server.clock.now() },
    });
    server.clock.advance(1_000);
    const changed = await send("PATCH", `/filters/${first.id}`, { description: null });
    expect(changed.body).toEqual({ ...first, description: null, updatedAt: server.clock.now() });
    const linux = filterOf("linux");
    expect((await send("PATCH", `/filters/${first.id}`, { conditions: linux })).body.conditions).toEqual(linux);
    expect((await send("PATCH", `/filters/${first.id}`, { name: "Linux" })).body.conditions).toEqual(linux);
    expect(outcome(await send("PATCH", `/filters/${first.id}`, { orgId: acme.secondOrgId }))).toEqual([
      400,
      "NO_UPDATES",
    ]);
    const shown = (await send("GET", `/filters/${first.id}`)).body;
    expect((await send("DELETE", `/filters/${first.id}`)).body).toEqual(shown);
    expect(await all()).toEqual([]);
    expect((await send("DELETE", `/filters/${first.id}`)).status).toBe(404);
    const entries = await auditOf(server, (entry) => entry.resourceId === first.id);
    expect(
      entries.map(({ action, details }) => [action, (details as { changedFields?: string[] } | null)?.changedFields]),
    ).toEqual([
      ["filter.create", undefined],
      ["filter.update", ["description"]],
      ["filter.update", ["conditions"]],
      ["filter.update", ["name"]],
      ["filter.delete", undefined],
    ]);
  });

  it("belong to the organization that a partner names, and to a member's own whatever it names", async () => {
    expect(outcome(await create({}))).toEqual([400, "ORG_ID_REQUIRED"]);
    expect((await create({})).body.error).toBe("orgId is required for partner scope");
    expect(outcome(await create({ orgId: other.orgId }))).toEqual([403, "ORG_ACCESS_DENIED"]);
    expect((await made({ orgId: other.orgId }, member)).orgId).toBe(acme.orgId);
    const system = await server.signIn({ role: "System Admin" });
    expect((await create({}, system)).body.error).toBe("orgId is required for system scope");
    expect((await made({ orgId: other.orgId }, system)).orgId).toBe(other.orgId);
  });

  it("are judged with all that is wrong with them, and nothing of it is kept", async () => {
    const filter = await made();
    const before = await all();
    const wrong = {
      operator: "AND",
      conditions: [
        { field: "osType", operator: "contains", value: "win" },
        { operator: "OR", conditions: [{ field: "colour", operator: "equals", value: "red" }] },
      ],
    };
    for (const answer of [
      await create({ orgId: acme.orgId, conditions: wrong }),
      await send("PATCH", `/filters/${filter.id}`, { name: "Renamed", conditions: wrong }),
    ]) {
      expect(answer).toMatchObject({ status: 400, body: { code: "FILTER_UNKNOWN_FIELD" } });
      expect(answer.body.details.errors.map(({ path }: { path: string }) => path)).toEqual([
        "conditions[0]",
        "conditions[1].conditions[0]",
      ]);
    }
    for (const odd of [[], {}, { operator: "AND", conditions: [] }, { field: "osType", operator: "isNull" }])
      expect(outcome(await create({ orgId: acme.orgId, conditions: odd }))).toEqual([400, "FILTER_INVALID_STRUCTURE"]);
    for (const none of [undefined, null, "x", 7])
      expect(outcome(await create({ orgId: acme.orgId, conditions: none }))).toEqual([400, "VALIDATION_ERROR"]);
    const text = { operator: "AND", conditions: [{ field: "hostname", operator: "equals", value: "a\u0000b" }] };
    expect((await create({ orgId: acme.orgId, conditions: text })).status).toBe(400);
    expect(await all()).toEqual(before);
  });

  it("may use operators of the type that a custom field has there", async () => {
    const field = { orgId: acme.orgId, name: "Rack unit", fieldKey: "rack_unit", type: "number" };
    const { body } = await send("POST", "/custom-fields", field);
    const over = { operator: "AND", conditions: [{ field: "custom.rack_unit", operator: "greaterThan", value: 7 }] };
    await made({ conditions: over });
    const elsewhere = await create({ orgId: acme.secondOrgId, conditions: over });
    expect(outcome(elsewhere)).toEqual([400, "FILTER_OPERATOR_NOT_ALLOWED"]);
    await send("DELETE", `/custom-fields/${body.id}`);
  });

  it("are listed newest first, and found by literal text in name or description (C13)", async () => {
    for (const [name, description] of [
      ["PC_01", null],
      ["PCX01", "50% Off"],
      ["Straße", "back\\slash"],
    ]) {
      await made({ name, description });
      server.clock.advance(1_000);
    }
    await made({ name: "Second", orgId: acme.secondOrgId });
    await server.db
      .insertInto("savedFilters")
      .values({ ...(await all())[0]!, id: server.services.random.uuid(), orgId: other.orgId, name: "Foreign" })
      .execute();
    expect(await names()).toEqual(["Second", "Straße", "PCX01", "PC_01"]);
    expect(await names(`?orgId=${acme.orgId}`)).toEqual(["Straße", "PCX01", "PC_01"]);
    expect(await names("", member)).toEqual(["Straße", "PCX01", "PC_01"]);
    for (const [text, found] of [
      ["pc_01", ["PC_01"]],
      ["_", ["PC_01"]],
      ["%", ["PCX01"]],
      ["OFF", ["PCX01"]],
      ["\\", ["Straße"]],
      ["STRAßE", ["Straße"]],
      ["foreign", []],
    ] as const)
      expect(await names(`?search=${encodeURIComponent(text)}`), text).toEqual(found);
    expect(outcome(await send("GET", `/filters?orgId=${other.orgId}`))).toEqual([403, "ORG_ACCESS_DENIED"]);
    const list = (await send("GET", "/filters?search=pc")).body;
    expect([list.total, list.data[0].orgName]).toEqual([2, "acme-one"]);
  });

  it("of hidden organizations are in no list, and read-only ones keep theirs", async () => {
    const filter = await made();
    const organization = server.db.updateTable("organizations").where("id", "=", acme.orgId);
    await organization.set({ status: "archived" }).execute();
    expect(await names()).toEqual([]);
    expect((await send("GET", `/filters/${filter.id}`)).status).toBe(200);
    expect(await names(`?orgId=${acme.orgId}`)).toEqual([NAME]);
    for (const answer of [
      await create({ orgId: acme.orgId }),
      await send("PATCH", `/filters/${filter.id}`, { name: "Renamed" }),
      await send("DELETE", `/filters/${filter.id}`),
    ])
      expect(outcome(answer)).toEqual([409, "ORG_READ_ONLY"]);
    expect((await all()).map(({ name }) => name)).toEqual([NAME]);
    await organization.set({ status: "active" }).execute();
  });

  it("are read and never written by who is confined to sites", async () => {
    const filter = await made();
    expect((await send("GET", `/filters/${filter.id}`, undefined, confined)).status).toBe(200);
    expect(await names("", confined)).toEqual([NAME]);
    for (const answer of [
      await create({}, confined),
      await send("PATCH", `/filters/${filter.id}`, { name: "Renamed" }, confined),
      await send("DELETE", `/filters/${filter.id}`, undefined, confined),
    ])
      expect(outcome(answer)).toEqual([403, "SITE_ACCESS_DENIED"]);
    expect((await all()).map(({ name }) => name)).toEqual([NAME]);
  });

  it("are no more than their organization may have, however many are saved at once", async () => {
    const rows = Array.from({ length: FILTERS_MAX - 2 }, (_, index) => ({
      ...{ id: server.services.random.uuid(), orgId: acme.orgId, name: `filter ${index}`, description: null },
      ...{ conditions, customKeys: [], createdBy: null },
      ...{ createdAt: server.clock.now(), updatedAt: server.clock.now() },
    }));
    await server.db.insertInto("savedFilters").values(rows).execute();
    const answers = await Promise.all(Array.from({ length: 6 }, () => create({ orgId: acme.orgId })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 422, 422, 422, 422]);
    expect(answers.find(({ status }) => status === 422)?.body).toMatchObject({
      code: "LIMIT_REACHED",
      details: { limit: "filters", max: FILTERS_MAX, current: FILTERS_MAX },
    });
    expect(await all()).toHaveLength(FILTERS_MAX);
    await made({ orgId: acme.secondOrgId });
    const list = (await send("GET", "/filters")).body;
    expect([list.data.length, list.total]).toEqual([FILTERS_MAX + 1, FILTERS_MAX + 1]);
  });

  it("have at most 64 KB, also after a change", async () => {
    const filter = await made();
    const value = Array.from({ length: 490 }, (_, index) => `${index}`.padStart(150, "é"));
    const large: FilterGroup = { operator: "AND", conditions: [{ field: "hostname", operator: "in", value }] };
    expect(JSON.stringify(large).length).toBeGreaterThan(FILTER_BYTES_MAX);
    for (const answer of [
      await create({ orgId: acme.orgId, conditions: large }),
      await send("PATCH", `/filters/${filter.id}`, { conditions: large }),
    ])
      expect(answer).toMatchObject({ status: 422, body: { code: "LIMIT_REACHED", details: { limit: "bytes" } } });
    expect((await all()).map((row) => row.conditions)).toEqual([conditions]);
  });

  it("hold the custom fields that they name, until they name them no more", async () => {
    const field = async (body: object) =>
      (await send("POST", "/custom-fields", { name: "Field", type: "text", ...body })).body.id as string;
    const own = await field({ orgId: acme.orgId, fieldKey: "own" });
    const shared = await field({ ownerScope: "partner", fieldKey: "shared" });
    const naming = (key: string) => ({
      operator: "AND",
      conditions: [{ operator: "OR", conditions: [{ field: `custom.${key}`, operator: "equals", value: "x" }] }],
    });
    const ofOwn = await made({ conditions: naming("own") });
    const ofShared = await made({ orgId: acme.secondOrgId, conditions: naming("shared") });
    // Without a definition there it means another field, or none.
    await made({ orgId: acme.secondOrgId, conditions: naming("own") });
    for (const [id, filterId] of [
      [own, ofOwn.id],
      [shared, ofShared.id],
    ] as const) {
      const refused = await send("DELETE", `/custom-fields/${id}`);
      expect(refused).toMatchObject({ status: 409, body: { code: "IN_USE", details: { filterIds: [filterId] } } });
      expect((await send("GET", `/custom-fields/${id}`)).status).toBe(200);
    }
    await send("PATCH", `/filters/${ofOwn.id}`, { conditions });
    expect((await send("DELETE", `/custom-fields/${own}`)).status).toBe(200);
    await send("DELETE", `/filters/${ofShared.id}`);
    expect((await send("DELETE", `/custom-fields/${shared}`)).status).toBe(200);
  });

  it("never name a number that was deleted while they were saved", async () => {
    const over = { operator: "AND", conditions: [{ field: "custom.units", operator: "greaterThan", value: 7 }] };
    for (let round = 0; round < 5; round += 1) {
      const field = { orgId: acme.orgId, name: "Units", fieldKey: "units", type: "number" };
      const { id } = (await send("POST", "/custom-fields", field)).body;
      const [saved, removed] = await Promise.all([
        create({ orgId: acme.orgId, conditions: over }),
        send("DELETE", `/custom-fields/${id}`),
      ]);
      expect([
        [201, 409],
        [400, 200],
      ]).toContainEqual([saved.status, removed.status]);
      await server.db.deleteFrom("savedFilters").execute();
      await send("DELETE", `/custom-fields/${id}`);
    }
  });

  it("that are changed and deleted at once end as one of both, and each is told in the audit log", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await made();
      const [changed, removed, again] = await Promise.all([
        send("PATCH", `/filters/${id}`, { name: "Renamed" }),
        send("DELETE", `/filters/${id}`),
        send("DELETE", `/filters/${id}`),
      ]);
      expect([200, 404]).toContain(changed.status);
      expect([removed.status, again.status].sort()).toEqual([200, 404]);
      const gone = removed.status === 200 ? removed : again;
      expect(gone.body.name === "Renamed").toBe(changed.status === 200);
      expect(await all()).toEqual([]);
    }
  });
});
