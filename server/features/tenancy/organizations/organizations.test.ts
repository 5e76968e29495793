import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { auditEntries } from "../../../test/audit-entries.ts";
import { makeDevices } from "../../../test/devices.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";

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

  it("refuses people and keys while it is churned, severs its agents, and revokes all when it is deleted", async () => {
    const { body: org } = await create({ name: "Leaving", slug: "leaving" });
    const path = `/orgs/organizations/${org.id}`;
    const member = await server.signIn({ role: "Org Admin", orgId: org.id });
    const key = await server.request("POST", "/api-keys", { token: admin.token, body: { orgId: org.id, name: "k" } });
    const reads = async ({ token }: SignedInUser) => (await server.request("GET", "/orgs/sites", { token })).status;
    const keyStatus = async () =>
      (await server.request("GET", `/api-keys/${key.body.id}`, { token: admin.token })).body.status;
    const rowOf = (table: "apiKeys" | "devices", id: string) =>
      server.db
        .selectFrom(table as "apiKeys")
        .selectAll()
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
    const storedKeyStatus = async () => (await rowOf("apiKeys", key.body.id)).status;
    const site = await server.request("POST", "/orgs/sites", {
      token: admin.token,
      body: { orgId: org.id, name: "HQ" },
    });
    const [deviceId] = await makeDevices(server, [
      { orgId: org.id, siteId: site.body.id, agentTokenHash: `hash-of-${org.id}` },
    ]);
    const tokens = async () =>
      ((await rowOf("devices", deviceId as string)) as { agentTokenHash?: unknown }).agentTokenHash;
    await server.request("PATCH", path, { token: admin.token, body: { status: "suspended" } });
    expect([await reads(member), await keyStatus()]).toEqual([401, "active"]);
    await server.request("PATCH", path, { token: admin.token, body: { status: "active" } });
    expect(await reads(member)).toBe(200);
    await server.request("PATCH", path, { token: admin.token, body: { status: "churned" } });
    expect([await reads(member), await keyStatus()]).toEqual([401, "active"]);
    const change = (await auditEntries(server, "organization.update")).findLast((one) => one.resourceId === org.id);
    expect(change?.details).toMatchObject({ changedFields: ["status"], fromStatus: "active", toStatus: "churned" });
    expect(await tokens()).toBeNull();
    await server.request("PATCH", path, { token: admin.token, body: { status: "active" } });
    expect([await reads(member), await keyStatus(), await tokens()]).toEqual([200, "active", null]);
    expect((await server.request("DELETE", path, { token: admin.token })).body).toEqual({ success: true });
    expect([await reads(member), await storedKeyStatus()]).toEqual([401, "revoked"]);
    for (const method of ["GET", "DELETE"]) {
      expect((await server.request(method, path, { token: admin.token })).body.code).toBe("NOT_FOUND");
    }
    expect((await create({ name: "Again", slug: "leaving" })).status).toBe(201);
  });

  it("tells that it begins to wind down, once, beside the change, and nothing where that is refused", async () => {
    const { id } = (await create({ name: "Winding down", slug: "winding-down" })).body;
    const path = `/orgs/organizations/${id}`;
    const become = (status: string) => server.request("PATCH", path, { token: admin.token, body: { status } });
    expect((await become("offboarding")).status).toBe(200);
    await become("offboarding");
    expect((await become("archived")).body.code).toBe("INVALID_STATUS");
    const told = await eventsOf(server.db, id);
    expect(told.map(({ kind }) => kind)).toEqual([
      "organization.created",
      "organization.updated",
      "organization.offboarding",
    ]);
    expect(told[2]).toMatchObject({ orgId: id, data: { organizationId: id, organizationName: "Winding down" } });
  });

  it("holds slug, name and date rules (C11), and reads odd input as documented (C15, C16)", async () => {
    for (const slug of ["café", "cafe\u0301", " acme ", "a/b", "", "a".repeat(101)]) {
      expect((await create({ name: "x", slug })).body.code, slug).toBe("VALIDATION_ERROR");
    }
    expect((await create({ name: "株式会社テスト", slug: "kk" })).body.name).toBe("株式会社テスト");
    expect((await create({ name: "é".repeat(255), slug: "e255" })).status).toBe(201);
    for (const body of [
      { name: "é".repeat(256) },
      { name: " " },
      { contractStart: "2026-02-01", contractEnd: "2026-01-31" },
      { contractStart: "0000-01-01" },
      { contractStart: "2026-02-30" },
      { status: "archived" },
      { status: "offboarding" },
      { settings: { note: "\u0000" } },
    ]) {
      const answer = await create({ name: "x", slug: "wrong", ...body });
      expect(answer.body.code, JSON.stringify(body).slice(0, 40)).toBe("VALIDATION_ERROR");
    }
    const get = (path: string) => server.request("GET", `/orgs/organizations${path}`, { token: admin.token });
    expect((await get("?limit=abc&page=-3")).body.pagination).toMatchObject({ page: 1, limit: 50 });
    expect((await get("?search=a&search=b")).body.code).toBe("VALIDATION_ERROR");
    expect((await get("?search=%00")).body.code).toBe("VALIDATION_ERROR");
    expect((await get("/not-a-uuid")).body.code).toBe("VALIDATION_ERROR");
  });

  it("searches for the text as it is written, wildcards included (C13)", async () => {
    await create({ name: "FM_01", slug: "fm-one" });
    await create({ name: "FMX01", slug: "fm-two" });
    await create({ name: "50%OFF back\\slash", slug: "sale" });
    const found = async (search: string) => {
      const { body } = await server.request("GET", `/orgs/organizations?search=${encodeURIComponent(search)}`, {
        token: admin.token,
      });
      return body.data.map((org: { slug: string }) => org.slug);
    };
    expect(await found("fm_01")).toEqual(["fm-one"]);
    expect(await found("%")).toEqual(["sale"]);
    expect(await found("\\")).toEqual(["sale"]);
    expect(await found("_")).toEqual(["fm-one"]);
  });

  it("lists every reachable organization by name for each scope, with device counts", async () => {
    const { partnerId: owner, orgIds } = await seedPartner(server, "sorted", ["beta", "Alpha", "gamma"]);
    const names = async (who: SignedInUser) => {
      const { body } = await server.request("GET", "/orgs", { token: who.token });
      return body.data.map((org: { name: string; deviceCount: number }) => [org.name, org.deviceCount]);
    };
    const all = [
      ["Alpha", 0],
      ["beta", 0],
      ["gamma", 0],
    ];
    expect(await names(await server.signIn({ role: "Partner Admin", partnerId: owner }))).toEqual(all);
    expect(await names(await server.signIn({ role: "Partner Admin", partnerId: owner, orgAccess: "none" }))).toEqual(
      [],
    );
    const selected = { role: "Partner Admin", partnerId: owner, orgAccess: "selected" as const };
    expect(await names(await server.signIn({ ...selected, orgIds: [orgIds[2] as string] }))).toEqual([["gamma", 0]]);
    expect(await names(await server.signIn({ role: "Org Viewer", orgId: orgIds[0] as string }))).toEqual([["beta", 0]]);
    await server.db
      .updateTable("organizations")
      .set({ status: "archived" })
      .where("id", "=", orgIds[0] as string)
      .execute();
    expect(await names(await server.signIn({ role: "Partner Admin", partnerId: owner }))).toEqual([all[0], all[2]]);
  });

  it("gives a creator of selected access the organization it made, and none to one without access", async () => {
    const selected = await server.signIn({ role: "Partner Admin", partnerId, orgAccess: "selected", orgIds: [] });
    const made = await server.request("POST", "/orgs/organizations", {
      token: selected.token,
      body: { name: "Mine", slug: "mine" },
    });
    expect(made.status).toBe(201);
    const list = await server.request("GET", "/orgs/organizations", { token: selected.token });
    expect(list.body.data.map((org: { id: string }) => org.id)).toEqual([made.body.id]);
    const none = await server.signIn({ role: "Partner Admin", partnerId, orgAccess: "none" });
    const refused = await server.request("POST", "/orgs/organizations", {
      token: none.token,
      body: { name: "No", slug: "no" },
    });
    expect(refused.body.code).toBe("FORBIDDEN");
  });

  it("needs a partner from system scope, and takes no other than the own from a partner", async () => {
    const system = await server.signIn({ role: "System Admin" });
    const send = (token: string, body: object) =>
      server.request("POST", "/orgs/organizations", { token, body: { name: "x", slug: "by-system", ...body } });
    const other = await seedPartner(server, "elsewhere");
    expect((await send(system.token, {})).body.code).toBe("PARTNER_ID_REQUIRED");
    expect((await send(system.token, { partnerId: server.services.random.uuid() })).body.code).toBe("NOT_FOUND");
    expect((await send(system.token, { partnerId: other.partnerId })).body.partnerId).toBe(other.partnerId);
    expect((await send(admin.token, { partnerId: other.partnerId })).body.code).toBe("PARTNER_ACCESS_DENIED");
    const foreign = await server.request("GET", `/orgs/organizations?partnerId=${other.partnerId}`, admin);
    expect(foreign.body.data).toEqual([]);
    const filtered = await server.request("GET", `/orgs/organizations?partnerId=${other.partnerId}`, system);
    expect(filtered.body.pagination.total).toBe(1);
  });

  it("writes one entry per change, and one for a denied change", async () => {
    const count = async () => (await auditEntries(server)).length;
    const before = await count();
    const viewer = await server.signIn({ role: "Partner Viewer", partnerId });
    await create({ name: "Audited", slug: "audited" });
    const denied = await server.request("POST", "/orgs/organizations", {
      token: viewer.token,
      body: { name: "x", slug: "x" },
    });
    expect(denied.body.code).toBe("PERMISSION_DENIED");
    await expect.poll(count).toBe(before + 2);
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
