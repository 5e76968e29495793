import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";

describe.each(databases)("sites on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let other: Tenant;
  let admin: SignedInUser;
  let system: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    other = await seedTenant(server.db, server.services, "other");
    admin = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
    system = await server.signIn({ role: "System Admin" });
  });
  afterAll(() => server?.stop());

  const call = (method: string, path: string, body?: object, token = admin.token) =>
    server.request(method, `/orgs/sites${path}`, { token, ...(body ? { body } : {}) });
  const made = async (name: string, orgId = acme.orgId) => {
    const answer = await call("POST", "", { orgId, name });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body as { id: string; orgId: string };
  };
  const ids = (answer: { body: { data: { id: string }[] } }) => {
    expect(answer.body).toHaveProperty("data");
    return answer.body.data.map((site) => site.id);
  };
  const freshOrg = async () =>
    (await seedPartner(server, `fresh-${server.services.random.uuid()}`, ["fresh"])).orgIds[0]!;
  const device = (change: object, id = acme.deviceId) =>
    server.db.updateTable("devices").set(change).where("id", "=", id).execute();

  it("creates a site with defaults, reads it back and records it", async () => {
    const { status, body } = await call("POST", "", { orgId: acme.orgId, name: " Harbor " });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      orgId: acme.orgId,
      name: "Harbor",
      timezone: "UTC",
      address: null,
      contact: null,
      settings: {},
    });
    expect((await call("GET", `/${body.id}`)).body).toEqual(body);
    const entry = (await auditEntries(server, "site.create")).find((one) => one.resourceId === body.id);
    expect(entry).toMatchObject({ orgId: acme.orgId, resourceName: "Harbor", details: { timezone: "UTC" } });
  });

  it("takes state for region in an address, answers region alone, and refuses two that differ", async () => {
    const { id } = await made("Addressed");
    const address = async (given: object) => {
      const { status, body } = await call("PATCH", `/${id}`, { address: given });
      return status === 200 ? body.address : body;
    };
    expect(await address({ city: "Denver", state: "CO", floor: 3 })).toEqual({
      city: "Denver",
      floor: 3,
      region: "CO",
    });
    expect(await address({ state: "CO", region: "CO" })).toEqual({ region: "CO" });
    expect(await address({ state: null, region: "CO" })).toEqual({ region: "CO" });
    expect(await address({ state: "NM", region: "" })).toEqual({ region: "NM" });
    expect(await address({ inner: { state: "kept" } })).toEqual({ inner: { state: "kept" } });
    expect(await address({ state: "CO", region: "Rockies" })).toMatchObject({
      code: "VALIDATION_ERROR",
      details: [{ path: "address.state" }],
    });
    expect((await call("GET", `/${id}`)).body.address).toEqual({ inner: { state: "kept" } });
    const created = await call("POST", "", { orgId: acme.orgId, name: "New", address: { state: "CO" } });
    expect([created.status, created.body.address]).toEqual([201, { region: "CO" }]);
    const names = async () =>
      (await call("GET", `?orgId=${acme.orgId}&limit=100`)).body.data.map((one: { name: string }) => one.name);
    const before = await names();
    expect(
      (await call("POST", "", { orgId: acme.orgId, name: "No", address: { state: "A", region: "B" } })).status,
    ).toBe(400);
    expect(await names()).toEqual(before);
  });

  it("lists with device counts, oldest first, and takes either name of the filter", async () => {
    const list = await call("GET", `?orgId=${acme.orgId}&limit=100`);
    expect(list.body.data.slice(0, 2)).toMatchObject([
      { id: acme.siteId, deviceCount: 1 },
      { id: acme.secondSiteId, deviceCount: 0 },
    ]);
    expect(ids(await call("GET", `?organizationId=${acme.orgId}&limit=100`))).toEqual(ids(list));
    expect(ids(await call("GET", `?orgId=${acme.secondOrgId}`))).toEqual([]);
    expect((await call("GET", `?orgId=${acme.orgId}&organizationId=${acme.secondOrgId}`)).status).toBe(400);
    await device({ status: "decommissioned" });
    expect((await call("GET", `?orgId=${acme.orgId}`)).body.data[0].deviceCount).toBe(0);
    await device({ status: "online" });
    const every = ids(await call("GET", "?limit=100", undefined, system.token));
    expect(every).toContain(acme.siteId);
    expect(every).toContain(other.siteId);
  });

  it("answers a foreign site exactly like one that does not exist; only system scope tells them apart", async () => {
    for (const [method, body] of [["GET"], ["PATCH", { name: "x" }], ["DELETE"]] as const) {
      const foreign = await call(method, `/${other.siteId}`, body);
      const random = await call(method, `/${server.services.random.uuid()}`, body);
      expect({ status: foreign.status, body: foreign.body }).toEqual({ status: random.status, body: random.body });
      expect(foreign.body.code).toBe("SITE_ACCESS_DENIED");
    }
    expect((await call("GET", `/${other.siteId}`, undefined, system.token)).status).toBe(200);
    const unknown = await call("GET", `/${server.services.random.uuid()}`, undefined, system.token);
    expect(unknown.body.code).toBe("NOT_FOUND");
    for (const query of [`?orgId=${other.orgId}`, `?orgId=${server.services.random.uuid()}`]) {
      expect((await call("GET", query)).body.code).toBe("ORG_ACCESS_DENIED");
    }
    const customer = await server.signIn({ role: "Org Admin", orgId: acme.orgId });
    expect((await call("GET", `?orgId=${acme.orgId}`, undefined, customer.token)).status).toBe(200);
    for (const query of [`?orgId=${acme.secondOrgId}`, `?organizationId=${acme.secondOrgId}`]) {
      expect((await call("GET", query, undefined, customer.token)).body.code).toBe("ORG_ACCESS_DENIED");
    }
  });

  it("follows the ORG rule on create", async () => {
    expect((await call("POST", "", { name: "x" })).body).toMatchObject({
      code: "ORG_ID_REQUIRED",
      error: "orgId is required for partner scope",
    });
    expect((await call("POST", "", { name: "x" }, system.token)).body.error).toBe("orgId is required for system scope");
    expect((await call("POST", "", { name: "x", orgId: other.orgId })).body.code).toBe("ORG_ACCESS_DENIED");
    const customer = await server.signIn({ role: "Org Admin", orgId: acme.orgId });
    expect((await call("POST", "", { name: "Own" }, customer.token)).body.orgId).toBe(acme.orgId);
    expect((await call("POST", "", { name: "x", orgId: acme.secondOrgId }, customer.token)).body.code).toBe(
      "ORG_ACCESS_DENIED",
    );
    const partly = await server.signIn({
      role: "Partner Admin",
      partnerId: acme.partnerId,
      orgAccess: "selected",
      orgIds: [acme.secondOrgId],
    });
    expect((await call("POST", "", { name: "x", orgId: acme.orgId }, partly.token)).body.code).toBe(
      "ORG_ACCESS_DENIED",
    );
    expect((await call("POST", "", { name: "x", orgId: acme.secondOrgId }, partly.token)).status).toBe(201);
    expect(ids(await call("GET", "?limit=100", undefined, partly.token))).not.toContain(acme.siteId);
  });

  it("changes fields, clears the nullable ones and keeps the organization (C12)", async () => {
    const site = await made("Change me");
    const change = {
      timezone: "America/New_York",
      address: { city: "Boston" },
      contact: { name: "Bo" },
      settings: { a: 1 },
    };
    expect((await call("PATCH", `/${site.id}`, change)).body).toMatchObject({ name: "Change me", ...change });
    expect((await call("PATCH", `/${site.id}`, { address: null, contact: null })).body).toMatchObject({
      address: null,
      contact: null,
      settings: { a: 1 },
    });
    for (const body of [{}, { bogus: 1 }, { orgId: site.orgId }]) {
      expect((await call("PATCH", `/${site.id}`, body)).body.code).toBe("NO_UPDATES");
    }
    expect((await call("PATCH", `/${site.id}`, { orgId: acme.secondOrgId })).body).toMatchObject({
      code: "FIELD_IMMUTABLE",
      details: { field: "orgId" },
    });
    expect((await call("PATCH", `/${site.id}`, { name: "Renamed", orgId: site.orgId })).body.name).toBe("Renamed");
    for (const body of [
      { timezone: "Mars/Olympus" },
      { timezone: "" },
      { timezone: null },
      { name: " " },
      { address: [] },
      { contact: { big: "x".repeat(17_000) } },
      { settings: { note: "\u0000" } },
    ]) {
      expect((await call("PATCH", `/${site.id}`, body)).body.code, JSON.stringify(body).slice(0, 60)).toBe(
        "VALIDATION_ERROR",
      );
    }
    const entry = (await auditEntries(server, "site.update")).find((one) => one.resourceId === site.id);
    expect(entry?.details["changedFields"]).toEqual(["timezone", "address", "contact", "settings"]);
  });

  it("keeps a site while live devices are on it", async () => {
    expect((await call("DELETE", `/${acme.siteId}`)).body).toMatchObject({
      code: "SITE_NOT_EMPTY",
      details: { deviceCount: 1 },
    });
  });

  it("deletes with contacts and enrollment keys, and moves decommissioned devices to the oldest other site", async () => {
    const tenant = await seedTenant(server.db, server.services, "closing");
    const { token } = await server.signIn({ role: "Partner Admin", partnerId: tenant.partnerId });
    await device({ status: "decommissioned" }, tenant.deviceId);
    expect((await call("DELETE", `/${tenant.siteId}`, undefined, token)).body).toEqual({ success: true });
    const stored = await server.db
      .selectFrom("devices")
      .select("siteId")
      .where("id", "=", tenant.deviceId)
      .executeTakeFirst();
    expect(stored?.siteId).toBe(tenant.secondSiteId);
    for (const [table, id] of [
      ["contacts", tenant.contactId],
      ["enrollmentKeys", tenant.enrollmentKeyId],
    ] as const) {
      expect(await server.db.selectFrom(table).select("id").where("id", "=", id).execute()).toEqual([]);
    }
    const entry = (await auditEntries(server, "site.delete")).find((one) => one.resourceId === tenant.siteId);
    expect(entry?.details).toMatchObject({ deletedContacts: 1, deletedEnrollmentKeys: 1, movedDevices: 1 });
    expect((await call("DELETE", `/${tenant.secondSiteId}`, undefined, token)).status).toBe(200);
    const last = await server.db
      .selectFrom("devices")
      .select("siteId")
      .where("id", "=", tenant.deviceId)
      .executeTakeFirst();
    expect(last?.siteId).toBeNull();
    expect((await call("DELETE", `/${tenant.siteId}`, undefined, token)).body.code).toBe("SITE_ACCESS_DENIED");
  });

  it("deletes once when asked twice at the same moment", async () => {
    const site = await made("Twice");
    const twice = await Promise.all([1, 2].map(() => call("DELETE", `/${site.id}`)));
    expect(twice.map((answer) => answer.status).sort()).toEqual([200, 403]);
  });

  it("never loses a contact or key that is made while its site is deleted", async () => {
    for (let round = 0; round < 5; round += 1) {
      const site = await made(`Race ${round}`);
      const [removed, contact, key] = await Promise.all([
        call("DELETE", `/${site.id}`),
        server.request("POST", `/orgs/organizations/${acme.orgId}/contacts`, {
          token: admin.token,
          body: { name: "Racer", siteId: site.id },
        }),
        server.request("POST", "/enrollment-keys", {
          token: admin.token,
          body: { orgId: acme.orgId, siteId: site.id, name: "Racer" },
        }),
      ]);
      expect(removed.status).toBe(200);
      expect([undefined, "site-not-in-org"]).toContain(contact.body.code);
      expect([undefined, "SITE_NOT_IN_ORG"]).toContain(key.body.code);
      const left = await server.db.selectFrom("contacts").select("id").where("siteId", "=", site.id).execute();
      expect(left).toEqual([]);
    }
  });

  it("is read-only while its organization is wound down, and gone with a deleted one", async () => {
    const orgId = await freshOrg();
    const site = (await call("POST", "", { orgId, name: "Kept" }, system.token)).body;
    for (const status of ["churned", "archived", "offboarding", "merging"] as const) {
      await server.db.updateTable("organizations").set({ status }).where("id", "=", orgId).execute();
      for (const [method, path, body] of [
        ["POST", "", { orgId, name: "x" }],
        ["PATCH", `/${site.id}`, { name: "x" }],
        ["DELETE", `/${site.id}`, undefined],
      ] as const) {
        expect((await call(method, path, body, system.token)).body).toMatchObject({
          code: "ORG_READ_ONLY",
          details: { status },
        });
      }
      expect((await call("GET", `/${site.id}`, undefined, system.token)).status).toBe(200);
      expect(ids(await call("GET", `?orgId=${orgId}`, undefined, system.token))).toEqual([site.id]);
    }
    await server.db.updateTable("organizations").set({ status: "suspended" }).where("id", "=", orgId).execute();
    expect((await call("PATCH", `/${site.id}`, { name: "y" }, system.token)).status).toBe(200);
    await server.request("DELETE", `/orgs/organizations/${orgId}`, { token: system.token });
    expect((await call("GET", `/${site.id}`, undefined, system.token)).body.code).toBe("NOT_FOUND");
    expect(ids(await call("GET", "?limit=100", undefined, system.token))).not.toContain(site.id);
  });

  it("confines a caller to the sites of its membership (C10)", async () => {
    const confined = await server.signIn({ role: "Org Admin", orgId: acme.orgId, siteIds: [acme.siteId] });
    const list = await call("GET", "", undefined, confined.token);
    expect(ids(list)).toEqual([acme.siteId]);
    expect(list.body.pagination.total).toBe(1);
    for (const [method, path, body] of [
      ["GET", `/${acme.secondSiteId}`],
      ["PATCH", `/${acme.secondSiteId}`, { name: "x" }],
      ["DELETE", `/${acme.siteId}`],
      ["POST", "", { name: "x" }],
    ] as const) {
      expect((await call(method, path, body, confined.token)).body.code, method).toBe("SITE_ACCESS_DENIED");
    }
    expect((await call("PATCH", `/${acme.siteId}`, { settings: { own: true } }, confined.token)).status).toBe(200);
  });

  it("needs permission and MFA to write", async () => {
    const viewer = await server.signIn({ role: "Org Viewer", orgId: acme.orgId });
    expect((await call("GET", "", undefined, viewer.token)).status).toBe(200);
    expect((await call("POST", "", { name: "x" }, viewer.token)).body.code).toBe("PERMISSION_DENIED");
    const hurried = await server.signIn({ role: "Org Admin", orgId: acme.orgId, mfa: false });
    expect((await call("POST", "", { name: "x" }, hurried.token)).body.code).toBe("MFA_REQUIRED");
  });
});
