import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedPartnerPrincipal } from "#fixtures/nouns/credentials/partner-service-principals";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";

describe.each(databases)("partners on %s", (database) => {
  let server: TestServer;
  let system: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database);
    system = await server.signIn({ role: "System Admin" });
  });
  afterAll(() => server?.stop());

  const create = (body: object) => server.request("POST", "/orgs/partners", { token: system.token, body });
  const made = async (slug: string, body: object = {}) => {
    const answer = await create({ name: slug, slug, ...body });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body as { id: string };
  };
  const patch = (id: string, body: object, token = system.token) =>
    server.request("PATCH", `/orgs/partners/${id}`, { token, body });
  const get = (id: string) => server.request("GET", `/orgs/partners/${id}`, { token: system.token });
  const random = () => server.services.random.uuid();

  it("creates an active partner with the documented defaults", async () => {
    const { status, body } = await create({ name: "Acme", slug: "Acme-MSP", settings: { timezone: "UTC" } });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      slug: "acme-msp",
      type: "msp",
      plan: "free",
      status: "active",
      maxOrganizations: null,
      maxDevices: null,
      settings: {},
      ssoConfig: {},
      serviceManagementMode: "native",
      deletedAt: null,
    });
    expect((await get(body.id)).body).toEqual(body);
    const [entry] = (await auditEntries(server, "partner.create")).filter((one) => one.resourceId === body.id);
    expect(entry).toMatchObject({ partnerId: body.id, orgId: null, resourceName: "Acme", result: "success" });
  });

  it("holds slug and name rules in characters, not bytes, and never bends a slug (C11)", async () => {
    for (const slug of ["café", "cafe\u0301", " acme ", "a/b", "", "a".repeat(101), "-a", "日本"]) {
      expect((await create({ name: "x", slug })).body.code, slug).toBe("VALIDATION_ERROR");
    }
    expect((await create({ name: "株式会社テスト", slug: "kk" })).body.name).toBe("株式会社テスト");
    expect((await create({ name: "é".repeat(255), slug: "e255" })).status).toBe(201);
    expect((await create({ name: "é".repeat(256), slug: "e256" })).status).toBe(400);
    expect((await create({ name: "   ", slug: "blank" })).status).toBe(400);
    expect((await create({ name: "x", slug: "a".repeat(100) })).status).toBe(201);
  });

  it("lets one of several twins through, also when they differ in case (C11)", async () => {
    const twins = await Promise.all(["twin", "Twin", "TWIN", "twin"].map((slug) => create({ name: "Twin", slug })));
    expect(twins.map((answer) => answer.status).sort()).toEqual([201, 409, 409, 409]);
    expect(twins.filter((answer) => answer.status === 409).every((one) => one.body.code === "SLUG_TAKEN")).toBe(true);
  });

  it("refuses a taken slug on update, and frees the slug of a deleted partner", async () => {
    const first = await made("first");
    const second = await made("second");
    expect((await patch(second.id, { slug: "FIRST" })).body.code).toBe("SLUG_TAKEN");
    expect((await patch(second.id, { slug: "second" })).status).toBe(200);
    expect((await server.request("DELETE", `/orgs/partners/${first.id}`, { token: system.token })).status).toBe(200);
    expect((await patch(second.id, { slug: "first" })).body.slug).toBe("first");
  });

  it("changes any field and names the changed ones in the audit entry", async () => {
    const { id } = await made("fields");
    const change = {
      name: "Fields Ltd",
      type: "enterprise",
      plan: "unlimited",
      maxOrganizations: 3,
      maxDevices: 0,
      billingEmail: "Bills@Fields.Example",
      ssoConfig: { any: ["thing"] },
      settings: { dateFormat: "YYYY-MM-DD", contact: { email: "", name: "Ada" } },
    };
    const { status, body } = await patch(id, change);
    expect(status).toBe(200);
    expect(body).toMatchObject({ ...change, billingEmail: "bills@fields.example" });
    const entry = (await auditEntries(server, "partner.update")).find((one) => one.resourceId === id);
    expect(entry?.details["changedFields"]).toEqual([
      "name",
      "billingEmail",
      "type",
      "plan",
      "maxOrganizations",
      "maxDevices",
      "ssoConfig",
      "settings.dateFormat",
      "settings.contact",
    ]);
    expect(JSON.stringify(entry?.details)).not.toContain("Ada");
    expect((await patch(id, { maxOrganizations: null, billingEmail: null })).body).toMatchObject({
      maxOrganizations: null,
      billingEmail: null,
      maxDevices: 0,
    });
  });

  it("tells an empty change from one that clears (C12)", async () => {
    const { id } = await made("empty");
    for (const body of [{}, { bogus: 1 }]) expect((await patch(id, body)).body.code).toBe("NO_UPDATES");
    expect((await patch(id, { name: null })).body.code).toBe("VALIDATION_ERROR");
  });

  it("merges settings key by key under parallel changes, and refuses unknown or wrong ones", async () => {
    const { id } = await made("merging");
    await Promise.all([
      patch(id, { settings: { timezone: "Europe/Madrid" } }),
      patch(id, { settings: { timeFormat: "24h" } }),
      patch(id, { settings: { contact: { name: "Ada" } } }),
      patch(id, { settings: { contact: { phone: "1" } } }),
    ]);
    expect((await get(id)).body.settings).toEqual({
      timezone: "Europe/Madrid",
      timeFormat: "24h",
      contact: { name: "Ada", phone: "1" },
    });
    const cleared = await patch(id, { settings: { timezone: null, contact: { phone: null } } });
    expect(cleared.body.settings).toEqual({ timeFormat: "24h", contact: { name: "Ada" } });
    const monday = (hours: object) => ({ businessHours: { preset: "custom", custom: { monday: hours } } });
    for (const settings of [
      { colour: "red" },
      { timezone: "Mars/Olympus" },
      { language: "de" },
      { contact: { email: "nonsense" } },
      { contact: { fax: "1" } },
      { security: { requireMfa: "yes" } },
      monday({ start: "9:00", end: "17:00" }),
      monday({ start: "09:00", end: "24:00" }),
      { businessHours: { custom: { someday: { start: "09:00", end: "17:00" } } } },
      { billing: { note: "\u0000" } },
    ]) {
      expect((await patch(id, { settings })).body.code, JSON.stringify(settings)).toBe("VALIDATION_ERROR");
    }
    expect((await patch(id, { settings: monday({ start: "09:00", end: "17:00" }) })).status).toBe(200);
  });

  it("keeps mode and connection of service management a pair, on the merged row", async () => {
    const { id } = await made("psa");
    const connection = random();
    expect((await patch(id, { serviceManagementMode: "external" })).body.code).toBe("PSA_CONNECTION_REQUIRED");
    expect((await patch(id, { serviceManagementPsaConnectionId: connection })).body.code).toBe(
      "PSA_CONNECTION_NOT_ALLOWED",
    );
    const both = { serviceManagementMode: "external", serviceManagementPsaConnectionId: connection };
    expect((await patch(id, both)).body).toMatchObject(both);
    expect((await patch(id, { serviceManagementMode: "off" })).body.code).toBe("PSA_CONNECTION_NOT_ALLOWED");
    expect((await patch(id, { serviceManagementPsaConnectionId: null })).body.code).toBe("PSA_CONNECTION_REQUIRED");
    const off = { serviceManagementMode: "off", serviceManagementPsaConnectionId: null };
    expect((await patch(id, off)).body).toMatchObject(off);
  });

  it("blocks all people of a partner that is not active, and lets them back in", async () => {
    const { partnerId, orgIds } = await seedPartner(server, "guarded", ["customer"]);
    const staff = await server.signIn({ role: "Partner Admin", partnerId });
    const customer = await server.signIn({ role: "Org Admin", orgId: orgIds[0] as string });
    const reads = async () => [
      (await server.request("GET", "/orgs/organizations", { token: staff.token })).body.code,
      (await server.request("GET", "/orgs/sites", { token: customer.token })).body.code,
    ];
    for (const status of ["pending", "suspended", "churned"]) {
      expect((await patch(partnerId, { status })).body.status).toBe(status);
      expect(await reads()).toEqual(["PARTNER_INACTIVE", "PARTNER_INACTIVE"]);
      const mine = await server.request("GET", "/orgs/partners/me", { token: staff.token });
      expect(mine.body).toMatchObject({ id: partnerId, status });
    }
    expect((await patch(partnerId, { status: "active" })).status).toBe(200);
    expect(await reads()).toEqual([undefined, undefined]);
    const change = (await auditEntries(server, "partner.update")).findLast((one) => one.resourceId === partnerId);
    expect(change?.details).toMatchObject({ fromStatus: "churned", toStatus: "active" });
  });

  it("deletes softly: sessions and keys end, organizations stay, a second delete finds nothing", async () => {
    const { partnerId, orgIds } = await seedPartner(server, "leaving", ["left-behind"]);
    const orgId = orgIds[0] as string;
    const staff = await server.signIn({ role: "Partner Admin", partnerId });
    const customer = await server.signIn({ role: "Org Admin", orgId });
    const bystander = await server.signIn({
      role: "Partner Admin",
      partnerId: (await seedPartner(server, "by")).partnerId,
    });
    const key = await server.request("POST", "/api-keys", { token: staff.token, body: { orgId, name: "k" } });
    const { partnerKeyId } = await seedPartnerPrincipal(server.db, server.services, partnerId);
    const others = await seedPartnerPrincipal(
      server.db,
      server.services,
      (await seedPartner(server, "stays")).partnerId,
    );
    const removed = await server.request("DELETE", `/orgs/partners/${partnerId}`, { token: system.token });
    expect(removed).toMatchObject({ status: 200, body: { success: true } });
    for (const { token } of [staff, customer]) {
      expect((await server.request("GET", "/orgs/sites", { token })).body.code).toBe("UNAUTHENTICATED");
    }
    expect((await server.request("GET", "/orgs/sites", { token: bystander.token })).status).toBe(200);
    const stored = await server.db
      .selectFrom("apiKeys")
      .select("status")
      .where("id", "=", key.body.id)
      .executeTakeFirst();
    expect(stored?.status).toBe("revoked");
    const partnerKey = (id: string) =>
      server.db
        .selectFrom("partnerServicePrincipalKeys")
        .select(["status", "revokedAt"])
        .where("id", "=", id)
        .executeTakeFirst();
    expect(await partnerKey(partnerKeyId)).toEqual({ status: "revoked", revokedAt: server.clock.now() });
    expect(await partnerKey(others.partnerKeyId)).toEqual({ status: "active", revokedAt: null });
    expect((await server.request("GET", `/orgs/organizations/${orgId}`, { token: system.token })).status).toBe(200);
    for (const method of ["GET", "DELETE"]) {
      const again = await server.request(method, `/orgs/partners/${partnerId}`, { token: system.token });
      expect(again.body.code).toBe("NOT_FOUND");
    }
    expect((await patch(partnerId, { status: "active" })).body.code).toBe("NOT_FOUND");
    const list = await server.request("GET", "/orgs/partners?limit=100", { token: system.token });
    expect(list.body.data.map((one: { id: string }) => one.id)).not.toContain(partnerId);
  });

  it("shows the order of organizations to confined members without those they do not reach", async () => {
    const { partnerId, orgIds } = await seedPartner(server, "in-order", ["o-1", "o-2", "o-3"]);
    const full = await server.signIn({ role: "Partner Admin", partnerId });
    const orderedIds = [...orgIds].reverse();
    await server.request("PATCH", "/orgs/organizations/order", { token: full.token, body: { orderedIds } });
    const seen = async ({ token }: SignedInUser) =>
      (await server.request("GET", "/orgs/partners/me", { token })).body.settings.organizationOrder;
    const confined = { role: "Partner Admin", partnerId, orgAccess: "selected" as const };
    expect(await seen(full)).toEqual(orderedIds);
    expect(await seen(await server.signIn({ ...confined, orgIds: orgIds.slice(0, 2) }))).toEqual(orderedIds.slice(1));
    expect(await seen(await server.signIn({ role: "Partner Admin", partnerId, orgAccess: "none" }))).toEqual([]);
  });

  it("deletes once when asked twice at the same moment", async () => {
    const { id } = await made("once");
    const twice = await Promise.all(
      [1, 2].map(() => server.request("DELETE", `/orgs/partners/${id}`, { token: system.token })),
    );
    expect(twice.map((answer) => answer.status).sort()).toEqual([200, 404]);
  });

  it("lists oldest first and reads odd paging as documented (C15)", async () => {
    const read = (query: string) => server.request("GET", `/orgs/partners?${query}`, { token: system.token });
    const all = (await read("limit=100")).body;
    const stamps = all.data.map((one: { createdAt: string; id: string }) => one.createdAt + one.id);
    expect(stamps).toEqual([...stamps].sort());
    expect(all.pagination.total).toBe(all.data.length);
    expect((await read("page=abc&limit=-1")).body.pagination).toMatchObject({ page: 1, limit: 1 });
    expect((await read("page=0&limit=100000")).body.pagination).toMatchObject({ page: 1, limit: 100 });
    expect((await read("limit=1e2")).body.pagination.limit).toBe(50);
    expect(await read("page=99999999999999999999")).toMatchObject({ status: 200, body: { data: [] } });
    expect((await read("page=1&page=2")).body.code).toBe("VALIDATION_ERROR");
  });

  it("answers malformed ids, bodies and methods as JSON, never 5xx (C16)", async () => {
    const send = (method: string, path: string, body?: string) =>
      fetch(`${server.url}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${system.token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body }),
      }).then(async (answer) => [answer.status, ((await answer.json()) as { code: string }).code]);
    expect(await send("GET", "/orgs/partners/not-a-uuid")).toEqual([400, "VALIDATION_ERROR"]);
    expect(await send("GET", "/orgs/partners/%00")).toEqual([400, "VALIDATION_ERROR"]);
    expect(await send("GET", `/orgs/partners/${random()}`)).toEqual([404, "NOT_FOUND"]);
    expect(await send("PUT", "/orgs/partners")).toEqual([405, "METHOD_NOT_ALLOWED"]);
    expect(await send("POST", "/orgs/partners", "{")).toEqual([400, "INVALID_JSON"]);
    for (const body of ["null", "[]", '"x"']) {
      expect(await send("POST", "/orgs/partners", body)).toEqual([400, "VALIDATION_ERROR"]);
    }
  });

  it("is for system scope alone, with permission and MFA", async () => {
    const { partnerId, orgIds } = await seedPartner(server, "outside", ["outside"]);
    const staff = await server.signIn({ role: "Partner Admin", partnerId });
    const customer = await server.signIn({ role: "Org Admin", orgId: orgIds[0] as string });
    const hurried = await server.signIn({ role: "System Admin", mfa: false });
    for (const { token } of [staff, customer]) {
      expect((await server.request("GET", "/orgs/partners", { token })).body.code).toBe("FORBIDDEN");
      expect((await server.request("GET", `/orgs/partners/${partnerId}`, { token })).body.code).toBe("FORBIDDEN");
      expect((await patch(partnerId, { plan: "unlimited" }, token)).body.code).toBe("FORBIDDEN");
    }
    expect((await patch(partnerId, { name: "x" }, hurried.token)).body.code).toBe("MFA_REQUIRED");
    expect((await server.request("GET", "/orgs/partners")).body.code).toBe("UNAUTHENTICATED");
  });

  describe("self-service", () => {
    const mine = (token: string, body?: object) =>
      server.request(body ? "PATCH" : "GET", "/orgs/partners/me", { token, ...(body ? { body } : {}) });

    it("shows and changes the own partner, and drops what only an administrator sets", async () => {
      const { partnerId } = await seedPartner(server, "self");
      const { token } = await server.signIn({ role: "Partner Admin", partnerId });
      const changed = await mine(token, {
        name: "Self Ltd",
        plan: "unlimited",
        status: "churned",
        maxDevices: null,
        settings: { timezone: "Asia/Tokyo" },
      });
      expect(changed.body).toMatchObject({ id: partnerId, name: "Self Ltd", plan: "pro", status: "active" });
      expect((await mine(token)).body).toEqual(changed.body);
      expect((await mine(token, { plan: "unlimited" })).body.code).toBe("NO_UPDATES");
      const entry = (await auditEntries(server, "partner.settings.update")).find((one) => one.partnerId === partnerId);
      expect(entry?.details["changedFields"]).toEqual(["name", "settings.timezone"]);
    });

    it("keeps the organization order out of reach of a settings change", async () => {
      const { partnerId, orgIds } = await seedPartner(server, "ordered", ["one", "two"]);
      const { token } = await server.signIn({ role: "Partner Admin", partnerId });
      const orderedIds = [...orgIds].reverse();
      await server.request("PATCH", "/orgs/organizations/order", { token, body: { orderedIds } });
      await mine(token, { settings: { organizationOrder: orgIds, language: "en" } });
      expect((await mine(token)).body.settings).toEqual({ organizationOrder: orderedIds, language: "en" });
      const alone = await mine(token, { settings: { organizationOrder: orgIds } });
      expect([alone.status, alone.body.code]).toEqual([400, "NO_UPDATES"]);
      expect(JSON.stringify(alone.body.details)).toContain("PATCH /orgs/organizations/order");
      expect((await mine(token)).body.settings.organizationOrder).toEqual(orderedIds);
    });

    it("needs full access to write, and a partner to speak of", async () => {
      const { partnerId, orgIds } = await seedPartner(server, "partly", ["partly"]);
      const partly = await server.signIn({ role: "Partner Admin", partnerId, orgAccess: "selected", orgIds });
      expect((await mine(partly.token)).status).toBe(200);
      expect((await mine(partly.token, { name: "x" })).body.code).toBe("FULL_PARTNER_ACCESS_REQUIRED");
      expect((await mine(system.token)).body.code).toBe("PARTNER_CONTEXT_REQUIRED");
      expect((await mine(system.token, { name: "x" })).body.code).toBe("PARTNER_CONTEXT_REQUIRED");
      const viewer = await server.signIn({ role: "Partner Viewer", partnerId });
      expect((await mine(viewer.token, { name: "x" })).body.code).toBe("PERMISSION_DENIED");
    });
  });
});
