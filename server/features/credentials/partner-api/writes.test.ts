import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { auditEntries } from "../../../test/audit-entries.ts";
import { enroll } from "../../../test/enroll.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";

describe.each(databases)("partner API writes on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let made = 0;

  beforeAll(async () => {
    server = await startTestServer(database, {
      ENROLLMENT_KEY_DEFAULT_TTL_MINUTES: "90",
      PARTNER_API_ENROLLMENT_KEY_MAX_TTL_MINUTES: "1440",
    });
  });
  afterAll(() => server?.stop());

  const fresh = async () => {
    made += 1;
    acme = await seedTenant(server.db, server.services, `tenant-${made}`);
    return acme;
  };
  const send = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    server.request(method, `/partner-api${path}`, {
      headers: { "x-api-key": acme.partnerKey, ...headers },
      ...(body ? { body } : {}),
    });
  const mint = (body: object = {}, headers = {}) =>
    send("POST", "/enrollment-keys", { orgId: acme.orgId, name: "rollout", ...body }, headers);
  const organization = (slug: string, body: object = {}) =>
    send("POST", "/organizations", { name: slug, slug, ...body });
  const inMinutes = (minutes: number) => new Date(server.clock.nowMs() + minutes * 60_000).toISOString();
  const principal = (change: object) =>
    server.db.updateTable("partnerServicePrincipals").set(change).where("id", "=", acme.partnerPrincipalId).execute();
  const confine = async (orgIds: string[]) => {
    await principal({ orgAccess: "selected" });
    const rows = orgIds.map((orgId) => ({
      partnerId: acme.partnerId,
      principalId: acme.partnerPrincipalId,
      orgId,
    }));
    if (rows.length > 0) await server.db.insertInto("partnerServicePrincipalOrgs").values(rows).execute();
  };

  it("makes organization, site and key, and each reads back through the export and the main API", async () => {
    await fresh();
    const org = await organization("New-Customer", { type: "internal", status: "trial" });
    expect([org.status, org.body.schemaVersion]).toEqual([201, "1"]);
    expect(org.body.data).toMatchObject({ name: "New-Customer", slug: "new-customer", type: "internal", siteId: null });
    const site = await send("POST", "/sites", {
      orgId: org.body.data.id,
      name: "Warehouse",
      address: { line1: "Calle 1", city: "Bilbao" },
      contact: { email: "ana@x.example" },
    });
    expect(site.status, JSON.stringify(site.body)).toBe(201);
    expect(site.body.data).toMatchObject({
      timezone: "UTC",
      address: { line1: "Calle 1", line2: null, city: "Bilbao", region: null, postalCode: null, country: null },
      contact: { name: null, email: "ana@x.example", phone: null },
    });
    const key = await mint({ orgId: org.body.data.id, siteId: site.body.data.id, maxUsage: 5 });
    expect(key.status, JSON.stringify(key.body)).toBe(201);
    expect(key.body.key).toMatch(/^[0-9a-f]{64}$/);
    expect(key.body).not.toHaveProperty("enrollmentSecret");
    expect(key.body.data).toMatchObject({
      createdBy: null,
      createdByPrincipalId: acme.partnerPrincipalId,
      maxUsage: 5,
    });
    const exported = await send("GET", `/sites?orgId=${org.body.data.id}`);
    expect(exported.body.data).toEqual([site.body.data]);
    const { token } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
    const shown = await server.request("GET", `/orgs/organizations/${org.body.data.id}`, { token });
    expect(shown.body).toMatchObject({ status: "trial", partnerId: acme.partnerId });
  });

  it("takes state for region in an address, and refuses two that differ", async () => {
    await fresh();
    const addressed = (name: string, address: object) => send("POST", "/sites", { orgId: acme.orgId, name, address });
    const site = await addressed("Stated", { city: "Denver", state: " CO " });
    expect([site.status, site.body.data?.address]).toEqual([
      201,
      expect.objectContaining({ city: "Denver", region: "CO" }),
    ]);
    const { token } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
    const shown = await server.request("GET", `/orgs/sites/${site.body.data.id}`, { token });
    expect(shown.body.address).toEqual({ city: "Denver", region: "CO" });
    expect((await addressed("Same", { state: "CO", region: "CO" })).status).toBe(201);
    const refused = await addressed("Both", { state: "CO", region: "Rockies" });
    expect([refused.status, refused.body.details?.[0]?.path]).toEqual([400, "address.state"]);
    expect((await addressed("Other", { county: "Adams" })).status).toBe(400);
    const names = await server.db.selectFrom("sites").select("name").where("name", "in", ["Both", "Other"]).execute();
    expect(names).toEqual([]);
  });

  it("takes no partner in a body, and deletes nothing", async () => {
    await fresh();
    expect((await organization("x", { partnerId: acme.partnerId })).body.code).toBe("VALIDATION_ERROR");
    for (const path of [`/organizations/${acme.orgId}`, `/sites/${acme.siteId}`, "/organizations", "/enrollment-keys"])
      expect([404, 405]).toContain((await send("DELETE", path)).status);
  });

  it("keeps the partner's cap when creates race, and counts no deleted organization", async () => {
    await fresh();
    await server.db.updateTable("partners").set({ maxOrganizations: 5 }).where("id", "=", acme.partnerId).execute();
    const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => organization(`race-${at}`)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    for (const { status, body } of answers.filter((one) => one.status !== 201))
      expect([status, body.code]).toEqual([409, "ORG_LIMIT_REACHED"]);
    await server.db
      .updateTable("organizations")
      .set({ deletedAt: server.clock.now() })
      .where("id", "=", acme.secondOrgId)
      .execute();
    expect((await organization("after")).status).toBe(201);
    expect((await organization("more")).body.code).toBe("ORG_LIMIT_REACHED");
  });

  it("refuses a taken slug, a closed organization and what the principal was not given", async () => {
    await fresh();
    expect((await organization(`tenant-${made}-one`)).body.code).toBe("SLUG_TAKEN");
    await server.db
      .updateTable("organizations")
      .set({ status: "suspended" })
      .where("id", "=", acme.secondOrgId)
      .execute();
    const site = (orgId: string) => send("POST", "/sites", { orgId, name: "s" });
    const refused = [403, "ORG_ACCESS_DENIED"];
    expect(await site(acme.secondOrgId).then(({ status, body }) => [status, body.code])).toEqual(refused);
    await confine([]);
    expect(await site(acme.orgId).then(({ status, body }) => [status, body.code])).toEqual(refused);
    expect(await mint().then(({ status, body }) => [status, body.code])).toEqual(refused);
    expect((await send("GET", "/organizations")).body.data).toEqual([]);
    const own = await organization("its-own");
    expect(own.status, JSON.stringify(own.body)).toBe(201);
    expect((await site(own.body.data.id)).status).toBe(201);
    expect((await send("GET", "/organizations")).body.data).toEqual([own.body.data]);
  });

  it("mints only for a principal with both an end and an allowlist that keeps somebody out", async () => {
    await fresh();
    const everywhere = [
      ["0.0.0.0/0", "::/0"],
      ["127.0.0.1", "0.0.0.0/1", "128.0.0.0/1"],
      ["127.0.0.1", "::ffff:0:0/96"],
    ];
    const open = everywhere.map((sourceCidrs) => ({ expiresAt: inMinutes(60), sourceCidrs }));
    for (const change of [{ expiresAt: null }, { expiresAt: inMinutes(60), sourceCidrs: [] }, ...open]) {
      await principal(change);
      const { status, body } = await mint();
      expect([status, body.code]).toEqual([403, "partner_provisioning_principal_restrictions_required"]);
    }
    await principal({ sourceCidrs: ["127.0.0.1"] });
    expect((await mint()).status).toBe(201);
  });

  it("gives a key 90 minutes where nothing is asked, at most the smaller cap, and never both kinds of end (C03)", async () => {
    await fresh();
    expect((await mint()).body.data.expiresAt).toBe(inMinutes(90));
    expect((await mint({ ttlMinutes: 1440 })).body.data.expiresAt).toBe(inMinutes(1440));
    expect((await mint({ ttlMinutes: 1441 })).body).toMatchObject({
      code: "TTL_EXCEEDS_CAP",
      details: { maxTtlMinutes: 1440 },
    });
    expect((await mint({ expiresAt: inMinutes(1441) })).body.code).toBe("TTL_EXCEEDS_CAP");
    expect((await mint({ ttlMinutes: 5, expiresAt: inMinutes(5) })).body.code).toBe("VALIDATION_ERROR");
    expect((await mint({ expiresAt: "" })).body.code).toBe("VALIDATION_ERROR");
    expect((await mint({ expiresAt: inMinutes(-1) })).body.code).toBe("VALIDATION_ERROR");
    await server.db
      .updateTable("organizations")
      .set({ settings: { enrollment: { maxTtlMinutes: 60 } } })
      .where("id", "=", acme.orgId)
      .execute();
    expect((await mint()).body.data.expiresAt).toBe(inMinutes(60));
    expect((await mint({ ttlMinutes: 61 })).body.code).toBe("TTL_EXCEEDS_CAP");
    expect((await mint({ siteId: acme.secondSiteId, orgId: acme.secondOrgId })).body.code).toBe("SITE_NOT_IN_ORG");
  });

  it("gives a key a secret of its own that enrolling then needs", async () => {
    await fresh();
    const { body } = await mint({ issueEnrollmentSecret: true, siteId: acme.siteId });
    expect(body.enrollmentSecret).toMatch(/^[0-9a-f]{64}$/);
    const join = (secret?: string) => enroll(server, { raw: body.key }, secret ? { enrollmentSecret: secret } : {});
    expect((await join()).body.code).toBe("ENROLLMENT_SECRET_REQUIRED");
    expect((await join("0".repeat(64))).body.code).toBe("ENROLLMENT_SECRET_INVALID");
    expect((await join(body.enrollmentSecret)).status).toBe(201);
    const all = JSON.stringify(await auditEntries(server));
    expect(all).not.toContain(body.key);
    expect(all).not.toContain(body.enrollmentSecret);
  });

  it("makes one key of one idempotency key, sealed, and charges its budget once (C08)", async () => {
    await fresh();
    const headers = { "x-idempotency-key": "mint-once-0001" };
    const raced = await Promise.all(Array.from({ length: 10 }, () => mint({ issueEnrollmentSecret: true }, headers)));
    const firsts = raced.filter(({ status }) => status === 201);
    expect(firsts.length).toBeGreaterThan(0);
    for (const { status, body } of raced.filter((one) => one.status !== 201))
      expect([status, body.code]).toEqual([409, "IDEMPOTENCY_IN_FLIGHT"]);
    const again = await mint({ issueEnrollmentSecret: true }, headers);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    for (const { body } of [...firsts, again]) expect(body).toEqual(firsts[0]?.body);
    expect((await mint({ name: "other" }, headers)).body.code).toBe("IDEMPOTENCY_KEY_REUSED");
    const stored = await server.db.selectFrom("idempotencyKeys").selectAll().where("sealed", "=", true).execute();
    expect(JSON.stringify(stored)).not.toContain(again.body.key);
    for (let rest = 0; rest < 9; rest += 1) expect((await mint()).status).toBe(201);
    expect((await mint()).status).toBe(429);
    expect((await mint({ issueEnrollmentSecret: true }, headers)).status).toBe(201);
    const reach = (orgAccess: "all" | "selected") =>
      server.db
        .updateTable("partnerServicePrincipals")
        .set({ orgAccess })
        .where("id", "=", acme.partnerPrincipalId)
        .execute();
    await reach("selected");
    const lost = await mint({ issueEnrollmentSecret: true }, headers);
    expect([lost.status, lost.body.key]).toEqual([403, undefined]);
    await reach("all");
    const mine = acme;
    const others = await fresh();
    expect((await mint({ issueEnrollmentSecret: true }, headers)).body.data.orgId).toBe(others.orgId);
    expect(mine.orgId).not.toBe(others.orgId);
  });

  it("mints ten keys an hour however many come at once, and refused ones cost nothing", async () => {
    await fresh();
    for (let bad = 0; bad < 5; bad += 1) expect((await mint({ ttlMinutes: 1441 })).status).toBe(400);
    const answers = await Promise.all(Array.from({ length: 14 }, () => mint()));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    for (const { body, headers } of answers.filter(({ status }) => status === 429)) {
      expect(body).toMatchObject({ code: "RATE_LIMITED", details: { limit: "mints" } });
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(3_500);
    }
    const { token } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
    const path = `/partner-service-principals/${acme.partnerPrincipalId}/keys`;
    const second = await server.request("POST", path, { token, body: { name: "second" } });
    const withSecond = await mint({}, { "x-api-key": second.body.key });
    expect([withSecond.status, withSecond.body.details]).toEqual([429, { limit: "mints" }]);
    server.clock.advance(61 * 60_000);
    expect((await mint()).status).toBe(201);
  });

  it("writes 120 times an hour and principal", async () => {
    await fresh();
    const { services } = server;
    const limit = { name: "partner-writes", max: 120, windowSeconds: 3_600 };
    await server.db.transaction().execute(async (tx) => {
      for (let write = 0; write < 118; write += 1)
        await services.limiter.takeWithin(tx, limit, acme.partnerPrincipalId);
    });
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, at) => send("POST", "/sites", { orgId: acme.orgId, name: `s${at}` })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
    for (const { body } of answers.filter(({ status }) => status === 429))
      expect(body.details).toEqual({ limit: "writes" });
    const taken = await server.db.selectFrom("sites").select("id").where("orgId", "=", acme.orgId).execute();
    expect(taken).toHaveLength(4);
  });

  it("can do with a key for minting nothing but minting (C09)", async () => {
    await fresh();
    await principal({ scopes: ["enrollment-keys:write"] });
    expect((await mint()).status).toBe(201);
    const headers = { "x-api-key": acme.partnerKey };
    for (const [method, path] of [
      ["GET", "/partner-api/devices"],
      ["POST", "/partner-api/sites"],
      ["DELETE", `/enrollment-keys/${acme.enrollmentKeyId}`],
      ["GET", "/service-principals"],
      ["GET", "/devices"],
    ] as const) {
      const body = method === "POST" ? { orgId: acme.orgId, name: "x" } : undefined;
      const answer = await server.request(method, path, { headers, ...(body ? { body } : {}) });
      expect([401, 403], `${method} ${path}`).toContain(answer.status);
    }
  });

  it("records each call in the partner's chain and each change in the organization's, by the key and its principal", async () => {
    await fresh();
    const { body } = await send("POST", "/sites", { orgId: acme.orgId, name: "Recorded" });
    await send("GET", "/devices");
    await mint({ ttlMinutes: 9_999 });
    const entries = (await auditEntries(server)).filter((entry) => entry.actorId === acme.partnerKeyId);
    const common = { actorType: "api_key", details: { partnerServicePrincipalId: acme.partnerPrincipalId } };
    const inPartner = { partnerId: acme.partnerId, orgId: null };
    await expect
      .poll(async () => (await auditEntries(server)).filter((entry) => entry.actorId === acme.partnerKeyId).length)
      .toBe(4);
    expect(entries.find((entry) => entry.action === "site.create")).toMatchObject({
      ...common,
      orgId: acme.orgId,
      resourceId: body.data.id,
      resourceName: "Recorded",
    });
    expect(entries.find((entry) => entry.action === "partner_api.write" && entry.result === "success")).toMatchObject({
      ...common,
      ...inPartner,
      details: { ...common.details, resource: "sites", recordCount: 1, httpStatus: 201 },
    });
    expect(entries.find((entry) => entry.action === "partner_api.export")).toMatchObject({
      ...common,
      ...inPartner,
      details: { ...common.details, resource: "devices", recordCount: 1, httpStatus: 200 },
    });
    const failed = (await auditEntries(server, "partner_api.write")).find(
      (entry) => entry.actorId === acme.partnerKeyId && entry.result === "failure",
    );
    expect(failed?.details).toMatchObject({
      resource: "enrollment-keys",
      httpStatus: 400,
      errorCode: "TTL_EXCEEDS_CAP",
    });
  });

  it("answers how much of the key's hour is left, and marks the key as used", async () => {
    await fresh();
    await server.db
      .updateTable("partnerServicePrincipalKeys")
      .set({ rateLimit: 2 })
      .where("id", "=", acme.partnerKeyId)
      .execute();
    const answers = [
      await send("GET", "/sites"),
      await send("GET", "/sites?limit=x&bad=1"),
      await send("GET", "/sites"),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 429]);
    expect(answers.map(({ headers }) => headers.get("x-ratelimit-remaining"))).toEqual(["1", "0", "0"]);
    await server.services.keyUsage.flush();
    const key = await server.db
      .selectFrom("partnerServicePrincipalKeys")
      .select("lastUsedAt")
      .where("id", "=", acme.partnerKeyId)
      .executeTakeFirst();
    expect(key?.lastUsedAt).toBe(server.clock.now());
  });
});
