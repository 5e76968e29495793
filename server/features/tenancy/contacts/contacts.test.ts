import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../../../test/harness.ts";

describe.each(databases)("contacts on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let other: Tenant;
  let admin: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    other = await seedTenant(server.db, server.services, "other");
    admin = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
  });
  afterAll(() => server?.stop());

  const send = (method: string, path: string, body?: object, token = admin.token) =>
    server.request(method, `/orgs${path}`, { token, ...(body ? { body } : {}) });
  const create = (body: object, token?: string, orgId = acme.secondOrgId) =>
    send("POST", `/organizations/${orgId}/contacts`, body, token);
  const patch = (id: string, body: object, token?: string) => send("PATCH", `/contacts/${id}`, body, token);
  const list = (query = "", orgId = acme.secondOrgId, token?: string) =>
    send("GET", `/organizations/${orgId}/contacts?limit=100&${query}`, undefined, token);
  const made = async (body: object, orgId?: string) => {
    const answer = await create(body, undefined, orgId);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  const names = (answer: { body: { data: { name: string }[] } }) => answer.body.data.map((one) => one.name);
  const primaries = (rows: { isPrimary: boolean; id: string }[]) =>
    rows.filter((one) => one.isPrimary).map((one) => one.id);

  it("creates a contact with defaults, cleaned text and a lower-cased address (C19)", async () => {
    const body = await made({ email: " Pat.Doe@EXAMPLE.com ", name: "  ", roles: ["site", "billing", "site"] });
    expect(body).toMatchObject({
      orgId: acme.secondOrgId,
      siteId: null,
      name: null,
      email: "pat.doe@example.com",
      phone: null,
      roles: ["site", "billing"],
      isPrimary: false,
      notes: null,
    });
    const entry = (await auditEntries(server, "contact.create")).find((one) => one.resourceId === body.id);
    expect(entry?.orgId).toBe(acme.secondOrgId);
    expect(JSON.stringify(entry)).not.toContain("pat.doe");
  });

  it("refuses what breaks a rule, each with its code", async () => {
    const refused = async (body: object) => (await create(body)).body.code;
    expect(await refused({})).toBe("no-identifier");
    expect(await refused({ title: "CEO", name: " ", phone: "", mobile: null })).toBe("no-identifier");
    expect(await refused({ name: "x", roles: ["owner"] })).toBe("invalid-role");
    expect(await refused({ name: "x", siteId: acme.siteId })).toBe("site-not-in-org");
    expect(await refused({ name: "x", siteId: other.siteId })).toBe("site-not-in-org");
    expect(await refused({ name: "x", siteId: server.services.random.uuid() })).toBe("site-not-in-org");
    expect(await refused({ email: "nonsense" })).toBe("VALIDATION_ERROR");
    expect(await refused({ email: "a\u0000b@example.com" })).toBe("VALIDATION_ERROR");
    expect(await refused({ name: "x", notes: "n".repeat(5001) })).toBe("VALIDATION_ERROR");
    expect(await refused({ name: "x", isPrimary: null })).toBe("VALIDATION_ERROR");
    expect((await create({ name: "n".repeat(255), notes: "n".repeat(5000) })).status).toBe(201);
  });

  it("tells null, empty and omitted apart, and checks rules on the row as it will be (C12)", async () => {
    const { id } = await made({ name: "Ada", phone: "1", title: "CTO", roles: ["billing"], notes: "x" });
    expect((await patch(id, { phone: null })).body).toMatchObject({ name: "Ada", phone: null, title: "CTO" });
    expect((await patch(id, { title: "CEO" })).body).toMatchObject({ name: "Ada", title: "CEO", notes: "x" });
    expect((await patch(id, { roles: [], notes: " " })).body).toMatchObject({ roles: [], notes: null });
    expect((await patch(id, { name: null })).body.code).toBe("no-identifier");
    expect((await patch(id, { name: null, mobile: "2" })).body).toMatchObject({ name: null, mobile: "2" });
    expect((await patch(id, { roles: ["king"] })).body.code).toBe("invalid-role");
    expect((await patch(id, { siteId: other.siteId })).body.code).toBe("site-not-in-org");
    for (const body of [{}, { bogus: 1 }, { orgId: acme.secondOrgId }]) {
      expect((await patch(id, body)).body.code).toBe("NO_UPDATES");
    }
    expect((await patch(id, { orgId: acme.orgId, name: "x" })).body.code).toBe("FIELD_IMMUTABLE");
    const entries = (await auditEntries(server, "contact.update")).filter((one) => one.resourceId === id);
    expect(entries[0]?.details["changedFields"]).toEqual(["phone"]);
  });

  it("has one primary per scope, and demotes the previous one", async () => {
    const site = { siteId: acme.siteId };
    const first = await made({ name: "First", isPrimary: true }, acme.orgId);
    const onSite = await made({ name: "On site", isPrimary: true, ...site }, acme.orgId);
    const second = await made({ name: "Second", isPrimary: true }, acme.orgId);
    expect(primaries((await list("siteId=none", acme.orgId)).body.data)).toEqual([second.id]);
    expect(primaries((await list(`siteId=${acme.siteId}`, acme.orgId)).body.data)).toEqual([onSite.id]);
    const entry = (await auditEntries(server, "contact.create")).find((one) => one.resourceId === second.id);
    expect(entry?.details["demotedId"]).toBe(first.id);
    expect((await patch(first.id, { isPrimary: true })).body.isPrimary).toBe(true);
    expect(primaries((await list("siteId=none", acme.orgId)).body.data)).toEqual([first.id]);
    expect((await patch(first.id, site)).body).toMatchObject({ siteId: acme.siteId, isPrimary: true });
    expect(primaries((await list(`siteId=${acme.siteId}`, acme.orgId)).body.data)).toEqual([first.id]);
    expect(primaries((await list("siteId=none", acme.orgId)).body.data)).toEqual([]);
    expect((await patch(first.id, { isPrimary: false })).body.isPrimary).toBe(false);
  });

  it("keeps one primary when many are made, promoted and moved at the same moment", async () => {
    const spare = await Promise.all(
      [1, 2, 3].map((n) => made({ name: `Spare ${n}`, siteId: acme.siteId }, acme.orgId)),
    );
    const answers = await Promise.all([
      ...[1, 2, 3].map((n) => create({ name: `New ${n}`, isPrimary: true }, undefined, acme.orgId)),
      ...spare.map((one) => patch(one.id, { isPrimary: true })),
      ...spare.map((one) => patch(one.id, { siteId: null })),
    ]);
    expect(answers.map((answer) => answer.status).filter((status) => status >= 300)).toEqual([]);
    const rows = (await list("", acme.orgId)).body.data as { siteId: string | null; isPrimary: boolean; id: string }[];
    const scopes = rows.filter((one) => one.isPrimary).map((one) => one.siteId);
    expect(new Set(scopes).size).toBe(scopes.length);
    expect(scopes).toContain(null);
  });

  it("lists primary ones first, then by name without regard to case, nameless last; filters by site and role", async () => {
    const tenant = await seedTenant(server.db, server.services, "listing");
    const { token } = await server.signIn({ role: "Partner Admin", partnerId: tenant.partnerId });
    const add = async (body: object) => expect((await create(body, token, tenant.secondOrgId)).status).toBe(201);
    await add({ name: "bob", roles: ["technical", "after_hours"] });
    await add({ name: "Alice", roles: ["billing"] });
    await add({ phone: "1" });
    await add({ name: "Zed", isPrimary: true });
    await add({ name: "100%_tech", roles: ["portal"] });
    const read = (query = "", orgId = tenant.secondOrgId) => list(query, orgId, token);
    expect(names(await read())).toEqual(["Zed", "100%_tech", "Alice", "bob", null]);
    expect(names(await read("role=technical"))).toEqual(["bob"]);
    expect(names(await read("role=admin"))).toEqual([]);
    expect((await read("role=owner")).body.code).toBe("VALIDATION_ERROR");
    const paged = await send("GET", `/organizations/${tenant.secondOrgId}/contacts?limit=2&page=2`, undefined, token);
    expect(names(paged)).toEqual(["Alice", "bob"]);
    expect(paged.body.pagination).toEqual({ page: 2, limit: 2, total: 5 });
    expect((await read("siteId=none", tenant.orgId)).body.data).toEqual([]);
    expect((await read(`siteId=${tenant.siteId}`, tenant.orgId)).body.data).toMatchObject([{ id: tenant.contactId }]);
    for (const siteId of [other.siteId, server.services.random.uuid()]) {
      expect((await read(`siteId=${siteId}`, tenant.orgId)).body.code).toBe("SITE_ACCESS_DENIED");
    }
    expect((await read("siteId=some", tenant.orgId)).body.code).toBe("VALIDATION_ERROR");
  });

  it("deletes for good, once", async () => {
    const { id } = await made({ name: "Gone" });
    const twice = await Promise.all([1, 2].map(() => send("DELETE", `/contacts/${id}`)));
    expect(twice.map((answer) => answer.status).sort()).toEqual([200, 404]);
    expect((await patch(id, { name: "x" })).body.code).toBe("NOT_FOUND");
  });

  it("answers another tenant's ids like unknown ids", async () => {
    const random = server.services.random.uuid();
    for (const id of [other.contactId, random]) {
      expect((await patch(id, { name: "x" })).body.code).toBe("NOT_FOUND");
      expect((await send("DELETE", `/contacts/${id}`)).body.code).toBe("NOT_FOUND");
    }
    for (const id of [other.orgId, random]) {
      expect((await list("", id)).body.code).toBe("NOT_FOUND");
      expect((await create({ name: "x" }, undefined, id)).body.code).toBe("NOT_FOUND");
    }
    const customer = await server.signIn({ role: "Org Admin", orgId: acme.orgId });
    expect((await list("", acme.secondOrgId, customer.token)).body.code).toBe("NOT_FOUND");
    expect((await list("", acme.orgId, customer.token)).status).toBe(200);
  });

  it("is read-only while the organization is wound down", async () => {
    const tenant = await seedTenant(server.db, server.services, "winding");
    const { token } = await server.signIn({ role: "Partner Admin", partnerId: tenant.partnerId });
    await server.db.updateTable("organizations").set({ status: "archived" }).where("id", "=", tenant.orgId).execute();
    expect((await create({ name: "x" }, token, tenant.orgId)).body.code).toBe("ORG_READ_ONLY");
    expect((await patch(tenant.contactId, { name: "x" }, token)).body.code).toBe("ORG_READ_ONLY");
    expect((await send("DELETE", `/contacts/${tenant.contactId}`, undefined, token)).body.code).toBe("ORG_READ_ONLY");
    expect((await list("", tenant.orgId, token)).body.data).toHaveLength(1);
  });

  it("keeps a caller within its sites: theirs to write, the organization's to read, others out of reach (C10)", async () => {
    const tenant = await seedTenant(server.db, server.services, "confined");
    const { token: chief } = await server.signIn({ role: "Partner Admin", partnerId: tenant.partnerId });
    const { token } = await server.signIn({ role: "Org Admin", orgId: tenant.orgId, siteIds: [tenant.siteId] });
    const shared = (await create({ name: "Shared" }, chief, tenant.orgId)).body;
    const hidden = (await create({ name: "Hidden", siteId: tenant.secondSiteId }, chief, tenant.orgId)).body;
    const seen = await list("", tenant.orgId, token);
    expect(seen.body.data.map((one: { id: string }) => one.id).sort()).toEqual([shared.id, tenant.contactId].sort());
    expect(seen.body.pagination.total).toBe(2);
    expect((await list(`siteId=${tenant.secondSiteId}`, tenant.orgId, token)).body.code).toBe("SITE_ACCESS_DENIED");
    expect((await patch(hidden.id, { name: "x" }, token)).body.code).toBe("NOT_FOUND");
    expect((await send("DELETE", `/contacts/${hidden.id}`, undefined, token)).body.code).toBe("NOT_FOUND");
    expect((await patch(shared.id, { name: "x" }, token)).body.code).toBe("SITE_ACCESS_DENIED");
    expect((await send("DELETE", `/contacts/${shared.id}`, undefined, token)).body.code).toBe("SITE_ACCESS_DENIED");
    for (const siteId of [undefined, null, tenant.secondSiteId, server.services.random.uuid()]) {
      expect((await create({ name: "x", siteId }, token, tenant.orgId)).body.code).toBe("SITE_ACCESS_DENIED");
    }
    expect((await create({ name: "Own", siteId: tenant.siteId }, token, tenant.orgId)).status).toBe(201);
    expect((await patch(tenant.contactId, { title: "CTO" }, token)).body.title).toBe("CTO");
    for (const siteId of [null, tenant.secondSiteId]) {
      expect((await patch(tenant.contactId, { siteId }, token)).body.code).toBe("SITE_ACCESS_DENIED");
    }
  });

  it("needs organizations:write and MFA, not sites:write", async () => {
    const writer = await server.signIn({ role: "", permissions: ["organizations:write"], orgId: acme.orgId });
    expect((await create({ name: "x", siteId: acme.siteId }, writer.token, acme.orgId)).status).toBe(201);
    const viewer = await server.signIn({ role: "Org Viewer", orgId: acme.orgId });
    expect((await create({ name: "x" }, viewer.token, acme.orgId)).body.code).toBe("PERMISSION_DENIED");
    const hurried = await server.signIn({ role: "Org Admin", orgId: acme.orgId, mfa: false });
    expect((await create({ name: "x" }, hurried.token, acme.orgId)).body.code).toBe("MFA_REQUIRED");
  });
});
