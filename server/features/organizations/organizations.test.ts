import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../test/harness.ts";

describe.each(databases)("organizations on %s", (database) => {
  let server: TestServer;
  let admin: SignedInUser;
  let partnerId: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    ({ partnerId } = await seedPartner(server, "acme"));
    admin = await server.signIn({ role: "Partner Admin", partnerId });
  });
  afterAll(() => server?.stop());

  const create = (body: object, headers = {}) =>
    server.request("POST", "/orgs/organizations", { token: admin.token, body, headers });

  it("creates an organization with its audit retention, and lists it", async () => {
    const made = await create({ name: "Harbor Dental", slug: "Harbor-Dental", contractStart: "2026-01-01" });
    expect(made).toMatchObject({
      status: 201,
      body: { slug: "harbor-dental", status: "active", contractStart: "2026-01-01T00:00:00.000Z" },
    });
    const list = await server.request("GET", "/orgs/organizations?search=DENTAL", { token: admin.token });
    expect(list.body).toMatchObject({
      data: [{ id: made.body.id, deviceCount: 0 }],
      pagination: { page: 1, limit: 50, total: 1 },
    });
    const retention = await server.db
      .selectFrom("auditRetention")
      .selectAll()
      .where("orgId", "=", made.body.id)
      .executeTakeFirst();
    expect(retention?.retentionDays).toBe(365);
  });

  it("refuses a slug that is taken, and twins created at the same moment", async () => {
    const twins = await Promise.all([1, 2, 3].map(() => create({ name: "Twin", slug: "twin" })));
    expect(twins.map((answer) => answer.status).sort()).toEqual([201, 409, 409]);
    expect((await create({ name: "Twin", slug: "twin" })).body.code).toBe("SLUG_TAKEN");
  });

  it("keeps the partner's cap under parallel creates", async () => {
    const { partnerId: capped } = await seedPartner(server, "capped");
    await server.db.updateTable("partners").set({ maxOrganizations: 3 }).where("id", "=", capped).execute();
    const { token } = await server.signIn({ role: "Partner Admin", partnerId: capped });
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        server.request("POST", "/orgs/organizations", { token, body: { name: `o${n}`, slug: `o${n}` } }),
      ),
    );
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(3);
    expect(answers.filter((answer) => answer.body.code === "ORG_LIMIT_REACHED")).toHaveLength(5);
  });

  it("answers another partner's organization like one that does not exist", async () => {
    const other = await seedPartner(server, "other", ["foreign"]);
    for (const method of ["GET", "DELETE"]) {
      const foreign = await server.request(method, `/orgs/organizations/${other.orgIds[0]}`, { token: admin.token });
      const random = await server.request(method, `/orgs/organizations/${server.services.random.uuid()}`, {
        token: admin.token,
      });
      expect({ status: foreign.status, body: foreign.body }).toEqual({ status: random.status, body: random.body });
      expect(foreign.status).toBe(404);
    }
  });

  it("replays a create that is sent again with its idempotency key", async () => {
    const headers = { "x-idempotency-key": "create-once-1" };
    const first = await create({ name: "Once", slug: "once" }, headers);
    const again = await create({ name: "Once", slug: "once" }, headers);
    expect(again.body).toEqual(first.body);
    expect(again.status).toBe(201);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect((await create({ name: "Other", slug: "other-slug" }, headers)).body.code).toBe("IDEMPOTENCY_KEY_REUSED");
  });

  it("follows the status table and refuses what only the server sets", async () => {
    const { body } = await create({ name: "States", slug: "states" });
    const patch = (change: object) =>
      server.request("PATCH", `/orgs/organizations/${body.id}`, { token: admin.token, body: change });
    expect((await patch({ status: "trial" })).body.status).toBe("trial");
    expect((await patch({ status: "archived" })).body.code).toBe("INVALID_STATUS");
    expect((await patch({ status: "churned" })).body.status).toBe("churned");
    expect((await patch({ name: "New" })).body.code).toBe("ORG_READ_ONLY");
    expect((await patch({ status: "active" })).body.status).toBe("active");
    expect((await patch({ partnerId })).body.code).toBe("FIELD_IMMUTABLE");
    expect((await patch({})).body.code).toBe("NO_UPDATES");
    expect((await patch({ bogus: 1 })).body.code).toBe("NO_UPDATES");
  });

  it("writes one outbox entry per change, and one for a denied change", async () => {
    const before = await server.db.selectFrom("auditOutbox").selectAll().execute();
    const viewer = await server.signIn({ role: "Partner Viewer", partnerId });
    await create({ name: "Audited", slug: "audited" });
    const denied = await server.request("POST", "/orgs/organizations", {
      token: viewer.token,
      body: { name: "x", slug: "x" },
    });
    expect(denied.body.code).toBe("PERMISSION_DENIED");
    await expect
      .poll(async () => (await server.db.selectFrom("auditOutbox").selectAll().execute()).length)
      .toBe(before.length + 2);
  });

  it("puts the partner's own order first", async () => {
    const { body } = await server.request("GET", "/orgs/organizations?limit=100", { token: admin.token });
    const ids: string[] = body.data.map((org: { id: string }) => org.id);
    const last = ids.at(-1) as string;
    const ordered = await server.request("PATCH", "/orgs/organizations/order", {
      token: admin.token,
      body: { orderedIds: [last, last, partnerId] },
    });
    expect(ordered.body.organizationOrder[0]).toBe(last);
    const after = await server.request("GET", "/orgs/organizations?limit=1", { token: admin.token });
    expect(after.body.data[0].id).toBe(last);
  });
});
