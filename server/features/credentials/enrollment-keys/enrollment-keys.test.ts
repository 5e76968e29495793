import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, type SignedInUser, START, startTestServer, type TestServer } from "../../../test/harness.ts";

const PEPPER = "pepper-of-these-tests";
const MINUTE_MS = 60_000;
const minutesOn = (minutes: number) => new Date(Date.parse(START) + minutes * MINUTE_MS).toISOString();

describe.each(databases)("enrollment keys on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let other: Tenant;
  let admin: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database, {
      ENROLLMENT_KEY_PEPPER: PEPPER,
      ENROLLMENT_KEY_DEFAULT_TTL_MINUTES: "90",
    });
    acme = await seedTenant(server.db, server.services, "acme");
    other = await seedTenant(server.db, server.services, "other");
    admin = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
  });
  afterAll(() => server?.stop());

  const send = (method: string, path: string, body?: object, token = admin.token, headers = {}) =>
    server.request(method, `/enrollment-keys${path}`, { token, headers, ...(body ? { body } : {}) });
  const create = (body: object, token?: string) =>
    send("POST", "", { orgId: acme.secondOrgId, name: "key", ...body }, token);
  const made = async (body: object = {}) => {
    const answer = await create(body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  const stored = (id: string) =>
    server.db.selectFrom("enrollmentKeys").selectAll().where("id", "=", id).executeTakeFirst();
  const organization = (change: object, id = acme.secondOrgId) =>
    server.db.updateTable("organizations").set(change).where("id", "=", id).execute();

  it("shows the raw key once and stores only its peppered hash", async () => {
    const body = await made({ maxUsage: 5 });
    expect(body).toMatchObject({
      orgId: acme.secondOrgId,
      siteId: null,
      maxUsage: 5,
      usageCount: 0,
      createdBy: admin.userId,
      createdByPrincipalId: null,
    });
    expect(body.key).toMatch(/^[0-9a-f]{64}$/);
    const row = await stored(body.id);
    expect(row?.keyHash).toBe(createHash("sha256").update(`${PEPPER}:${body.key}`).digest("hex"));
    const { key: _shown, ...metadata } = body;
    expect((await send("GET", `/${body.id}`)).body).toEqual(metadata);
  });

  it("takes its default expiry from the server's setting for every caller, and refuses impossible ones (C03)", async () => {
    const body = await made();
    expect(body.expiresAt).toBe(minutesOn(90));
    expect(body.maxUsage).toBe(1);
    expect((await made({ expiresAt: "2026-03-02T11:30:00+02:00" })).expiresAt).toBe(minutesOn(30));
    for (const expiresAt of [
      "",
      null,
      START,
      "0001-01-01T00:00:00Z",
      "1970-01-01T00:00:00Z",
      "tomorrow",
      "9999-12-31T23:59:59-23:00",
    ]) {
      expect((await create({ expiresAt })).body.code, String(expiresAt)).toBe("VALIDATION_ERROR");
    }
    expect((await create({ ttlMinutes: 5 })).body.code).toBe("VALIDATION_ERROR");
    expect((await create({ ttlMinutes: 5, expiresAt: minutesOn(5) })).body.code).toBe("VALIDATION_ERROR");
  });

  it("holds the organization's own cap: clamps the default, refuses more", async () => {
    await organization({ settings: { enrollment: { maxTtlMinutes: 30 } } });
    const body = await made();
    expect(body.expiresAt).toBe(minutesOn(30));
    expect((await create({ expiresAt: minutesOn(31) })).body).toMatchObject({
      code: "TTL_EXCEEDS_CAP",
      details: { maxTtlMinutes: 30 },
    });
    expect((await send("POST", `/${body.id}/rotate`, { expiresAt: minutesOn(31) })).body.code).toBe("TTL_EXCEEDS_CAP");
    expect((await send("POST", `/${body.id}/rotate`, { expiresAt: minutesOn(29) })).body.expiresAt).toBe(minutesOn(29));
    await organization({ settings: {} });
  });

  it("refuses bodies outside the contract", async () => {
    for (const body of [
      { maxUsage: 0 },
      { maxUsage: 100_001 },
      { maxUsage: null },
      { maxUsage: 1.5 },
      { name: " " },
      { name: "n".repeat(256) },
      { key: "chosen" },
      { issueEnrollmentSecret: true },
      { siteId: "x" },
    ]) {
      expect((await create(body)).body.code, JSON.stringify(body).slice(0, 40)).toBe("VALIDATION_ERROR");
    }
    for (const siteId of [acme.siteId, other.siteId, server.services.random.uuid()]) {
      expect((await create({ siteId })).body.code).toBe("SITE_NOT_IN_ORG");
    }
    expect((await create({ orgId: acme.orgId, siteId: acme.siteId })).body.siteId).toBe(acme.siteId);
  });

  it("follows the ORG rule", async () => {
    const system = await server.signIn({ role: "System Admin" });
    const customer = await server.signIn({ role: "Org Admin", orgId: acme.orgId });
    expect((await create({ orgId: undefined })).body.error).toBe("orgId is required for partner scope");
    expect((await create({ orgId: undefined }, system.token)).body.error).toBe("orgId is required for system scope");
    expect((await create({ orgId: other.orgId }, system.token)).status).toBe(201);
    expect((await create({ orgId: undefined }, customer.token)).body.orgId).toBe(acme.orgId);
    for (const orgId of [other.orgId, acme.secondOrgId]) {
      expect((await create({ orgId }, customer.token)).body.code).toBe("ORG_ACCESS_DENIED");
    }
    for (const orgId of [other.orgId, server.services.random.uuid()]) {
      expect((await create({ orgId })).body.code).toBe("ORG_ACCESS_DENIED");
      expect((await send("GET", `?orgId=${orgId}`)).body.code).toBe("ORG_ACCESS_DENIED");
    }
  });

  it("rotates: new material, count from zero, and null, given and omitted mean different things (C12)", async () => {
    const first = await made({ maxUsage: 3, expiresAt: minutesOn(60) });
    await server.db.updateTable("enrollmentKeys").set({ usageCount: 3 }).where("id", "=", first.id).execute();
    const rotate = (body?: object) => send("POST", `/${first.id}/rotate`, body);
    const age = { keyIssuedAt: "2026-01-01T00:00:00.000Z" };
    await server.db.updateTable("enrollmentKeys").set(age).where("id", "=", first.id).execute();
    const second = await rotate();
    expect(second.body.keyIssuedAt).toBe(server.clock.now());
    expect(second).toMatchObject({ status: 200, body: { usageCount: 0, maxUsage: 3, expiresAt: minutesOn(60) } });
    expect(second.body.key).not.toBe(first.key);
    const entry = (await auditEntries(server, "enrollment_key.rotate")).findLast((one) => one.resourceId === first.id);
    expect(entry?.details).toMatchObject({
      previousUsageCount: 3,
      previousMaxUsage: 3,
      nextMaxUsage: 3,
      previousExpiresAt: minutesOn(60),
      nextExpiresAt: minutesOn(60),
    });
    expect((await rotate({ maxUsage: null })).body.maxUsage).toBeNull();
    expect((await rotate({})).body.maxUsage).toBeNull();
    expect((await rotate({ maxUsage: 7, expiresAt: minutesOn(10) })).body).toMatchObject({
      maxUsage: 7,
      expiresAt: minutesOn(10),
    });
    for (const body of [{ maxUsage: 0 }, { expiresAt: "" }, { expiresAt: START }, { name: "x" }]) {
      expect((await rotate(body)).body.code).toBe("VALIDATION_ERROR");
    }
  });

  it("keeps one working key of parallel rotations, and loses none to a parallel delete", async () => {
    const { id } = await made();
    const answers = await Promise.all([1, 2, 3, 4].map(() => send("POST", `/${id}/rotate`)));
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
    const hash = (await stored(id))?.keyHash;
    const hashes = answers.map(({ body }) => createHash("sha256").update(`${PEPPER}:${body.key}`).digest("hex"));
    expect(hashes.filter((one) => one === hash)).toHaveLength(1);
    for (let round = 0; round < 5; round += 1) {
      const key = await made();
      const [removed, rotated] = await Promise.all([send("DELETE", `/${key.id}`), send("POST", `/${key.id}/rotate`)]);
      expect(removed.status).toBe(200);
      expect([200, 404]).toContain(rotated.status);
      expect(await stored(key.id)).toBeUndefined();
    }
  });

  it("deletes for good, once", async () => {
    const { id } = await made();
    const twice = await Promise.all([1, 2].map(() => send("DELETE", `/${id}`)));
    expect(twice.map((answer) => answer.status).sort()).toEqual([200, 404]);
    expect((await send("GET", `/${id}`)).body.code).toBe("NOT_FOUND");
    expect((await send("POST", `/${id}/rotate`)).body.code).toBe("NOT_FOUND");
  });

  it("lists newest first and by expiry, also exactly at the end", async () => {
    const tenant = await seedTenant(server.db, server.services, "listing");
    const { token } = await server.signIn({ role: "Partner Admin", partnerId: tenant.partnerId });
    const add = async (name: string, expiresAt: string) =>
      (await create({ orgId: tenant.secondOrgId, name, expiresAt }, token)).body.id as string;
    const soon = await add("soon", minutesOn(1));
    const late = await add("late", minutesOn(10));
    const list = async (query: string) => {
      const { body } = await send("GET", `?orgId=${tenant.secondOrgId}&${query}`, undefined, token);
      return body.data.map((one: { id: string }) => one.id);
    };
    expect(await list("")).toEqual([late, soon]);
    server.clock.set(minutesOn(1));
    expect(await list("expired=true")).toEqual([soon]);
    expect(await list("expired=false")).toEqual([late]);
    server.clock.set(START);
    expect((await send("GET", "?expired=maybe", undefined, token)).body.code).toBe("VALIDATION_ERROR");
    expect((await send("GET", "?expired=true&expired=false", undefined, token)).body.code).toBe("VALIDATION_ERROR");
  });

  it("makes no key for an organization that is suspended or wound down, but takes keys away from it", async () => {
    const { id } = await made();
    await organization({ status: "suspended" });
    expect((await create({})).body.code).toBe("ORG_SUSPENDED");
    expect((await send("POST", `/${id}/rotate`)).status).toBe(200);
    await organization({ status: "offboarding" });
    expect((await create({})).body.code).toBe("ORG_READ_ONLY");
    expect((await send("POST", `/${id}/rotate`)).body.code).toBe("ORG_READ_ONLY");
    expect((await send("DELETE", `/${id}`)).status).toBe(200);
    await organization({ status: "active" });
  });

  it("confines a caller to the keys of its sites (C10)", async () => {
    const { token } = await server.signIn({ role: "Org Admin", orgId: acme.orgId, siteIds: [acme.siteId] });
    const hidden = (await create({ orgId: acme.orgId, siteId: acme.secondSiteId })).body.id;
    const wide = (await create({ orgId: acme.orgId })).body.id;
    const own = await send("POST", "", { name: "own", siteId: acme.siteId }, token);
    expect(own.status).toBe(201);
    const list = await send("GET", "?limit=100", undefined, token);
    expect(new Set(list.body.data.map((one: { siteId: string }) => one.siteId))).toEqual(new Set([acme.siteId]));
    expect(list.body.pagination.total).toBe(list.body.data.length);
    for (const [method, suffix] of [
      ["GET", ""],
      ["DELETE", ""],
      ["POST", "/rotate"],
    ] as const) {
      for (const id of [hidden, wide]) {
        expect((await send(method, `/${id}${suffix}`, undefined, token)).body.code).toBe("SITE_ACCESS_DENIED");
      }
      const unknown = server.services.random.uuid();
      for (const id of [other.enrollmentKeyId, unknown]) {
        expect((await send(method, `/${id}${suffix}`, undefined, token)).body.code).toBe("NOT_FOUND");
      }
    }
    for (const siteId of [undefined, null, acme.secondSiteId]) {
      expect((await send("POST", "", { name: "x", siteId }, token)).body.code).toBe("SITE_ACCESS_DENIED");
    }
  });

  it("never shows key or hash again: not in reads, audit entries or errors (C04)", async () => {
    const first = await made({ name: "Secretive" });
    const { body: second } = await send("POST", `/${first.id}/rotate`);
    const viewer = await server.signIn({ role: "Partner Viewer", partnerId: acme.partnerId });
    const texts = [
      await send("GET", "?limit=100", undefined, viewer.token),
      await send("GET", `/${first.id}`, undefined, viewer.token),
      await send("DELETE", `/${first.id}`),
    ].map((answer) => JSON.stringify(answer.body));
    texts.push(JSON.stringify(await auditEntries(server)));
    for (const { key } of [first, second]) {
      const hashes = [key, `${PEPPER}:${key}`].map((text) => createHash("sha256").update(text).digest("hex"));
      for (const secret of [key, ...hashes]) for (const text of texts) expect(text).not.toContain(secret);
    }
    for (const text of texts.slice(0, 2)) {
      expect(text).toContain(first.id);
      expect(text).not.toContain('"key":');
      expect(text).not.toContain('ash":');
    }
    const actions = (await auditEntries(server)).filter((one) => one.resourceId === first.id).map((one) => one.action);
    expect(actions).toEqual(["enrollment_key.create", "enrollment_key.rotate", "enrollment_key.delete"]);
  });

  it("replays a create with its idempotency key, the same raw key again and one row", async () => {
    const again = () =>
      send("POST", "", { orgId: acme.secondOrgId, name: "replayed" }, admin.token, {
        "x-idempotency-key": "mint-once-1",
      });
    const first = await again();
    const second = await again();
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    const rows = await server.db.selectFrom("enrollmentKeys").select("id").where("name", "=", "replayed").execute();
    expect(rows).toHaveLength(1);
  });

  it("needs organizations:write and MFA to change, and refuses malformed ids (C16)", async () => {
    const viewer = await server.signIn({ role: "Org Viewer", orgId: acme.orgId });
    expect((await send("GET", "", undefined, viewer.token)).status).toBe(200);
    expect((await create({}, viewer.token)).body.code).toBe("PERMISSION_DENIED");
    const hurried = await server.signIn({ role: "Org Admin", orgId: acme.orgId, mfa: false });
    expect((await create({}, hurried.token)).body.code).toBe("MFA_REQUIRED");
    expect((await send("GET", "/123")).body.code).toBe("VALIDATION_ERROR");
    expect((await send("GET", `/${other.enrollmentKeyId}`)).body).toEqual(
      (await send("GET", `/${server.services.random.uuid()}`)).body,
    );
  });
});
