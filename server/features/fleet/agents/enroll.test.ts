import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { auditOf } from "../../../test/audit-of.ts";
import { enroll, makeKey, makeSite, usageOf } from "../../../test/enroll.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";

describe.each(databases)("enrollment on %s", (database) => {
  let server: TestServer;
  let orgId: string;

  const freshOrg = async (slug: string) => {
    const made = await seedPartner(server, slug, [slug]);
    return { partnerId: made.partnerId, orgId: made.orgIds[0] as string };
  };
  const deviceRow = (id: string) =>
    server.db.selectFrom("devices").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const deviceCount = async (org: string) =>
    (await server.db.selectFrom("devices").select("id").where("orgId", "=", org).execute()).length;

  beforeAll(async () => {
    server = await startTestServer(database, { AGENT_ENROLL_RATE_LIMIT: "100000", APP_ENCRYPTION_KEY: "old-pepper" });
    ({ orgId } = await freshOrg("acme"));
  });
  afterAll(() => server?.stop());

  it("lets a device in with everything it reports, and counts one use", async () => {
    const siteId = await makeSite(server, orgId, "HQ");
    const key = await makeKey(server, { orgId, maxUsage: 3 });
    const answer = await enroll(server, key, {
      hostname: "  front-desk ",
      osBuild: "26100",
      deviceRole: "workstation",
      isVirtual: true,
      hardware: { cpuModel: "Core i5", cpuCores: 4, ramTotalMb: 16_384, serialNumber: "  " },
      network: [
        { interfaceName: "Ethernet", ipAddress: "10.0.0.5", isPrimary: true },
        { interfaceName: "lo", ipAddress: "127.0.0.1" },
      ],
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      agentId: expect.stringMatching(/^[0-9a-f]{64}$/),
      deviceId: expect.any(String),
      orgId,
      siteId,
      agentToken: expect.stringMatching(/^agt_[0-9a-f]{64}$/),
      watchdogToken: expect.stringMatching(/^agt_[0-9a-f]{64}$/),
      config: { heartbeatIntervalSeconds: 60, metricsIntervalSeconds: 60 },
    });
    const row = await deviceRow(answer.body.deviceId);
    expect(row).toMatchObject({
      hostname: "front-desk",
      status: "online",
      deviceRole: "workstation",
      isVirtual: true,
      lastSeenIp: "127.0.0.1",
    });
    expect(JSON.stringify(row)).not.toContain(answer.body.agentToken.slice(4));
    const hardware = await server.db
      .selectFrom("deviceHardware")
      .selectAll()
      .where("deviceId", "=", row.id)
      .executeTakeFirst();
    expect(hardware).toMatchObject({ cpuCores: 4, ramTotalMb: 16_384, serialNumber: null, model: null });
    const interfaces = await server.db
      .selectFrom("deviceInterfaces")
      .selectAll()
      .where("deviceId", "=", row.id)
      .execute();
    expect(interfaces).toHaveLength(2);
    const log = await server.db.selectFrom("deviceAvailability").selectAll().where("deviceId", "=", row.id).execute();
    expect(log.map((entry) => entry.state)).toEqual(["online"]);
    expect(await usageOf(server, key)).toBe(1);
  });

  it("writes agent.enroll and device.create into the organization's chain, without any secret", async () => {
    const key = await makeKey(server, { orgId });
    const { body } = await enroll(server, key, { hostname: "audited" });
    const entries = await auditOf(server, (entry) => entry.resourceName === "audited");
    expect(entries.map((entry) => [entry.action, entry.result, entry.actorType, entry.actorId, entry.orgId])).toEqual([
      ["agent.enroll", "success", "agent", body.deviceId, orgId],
      ["device.create", "success", "agent", body.deviceId, orgId],
    ]);
    expect(entries[0]?.details).toMatchObject({ enrollmentKeyId: key.id, rekeyed: false });
    const text = JSON.stringify(entries);
    for (const secret of [key.raw, body.agentToken, body.watchdogToken]) expect(text).not.toContain(secret);
  });

  it("refuses keys that are unknown, expired or used up, each under its own code", async () => {
    const dropped = async () => (await server.services.metrics.droppedAuditEvents.get()).values[0]?.value ?? 0;
    const before = await dropped();
    expect(await enroll(server, { raw: "f".repeat(64) })).toMatchObject({
      status: 401,
      body: { code: "ENROLLMENT_KEY_NOT_FOUND" },
    });
    await expect.poll(dropped).toBe(before + 1);
    const expired = await makeKey(server, { orgId, expiresAt: server.clock.now() });
    expect(await enroll(server, expired)).toMatchObject({ status: 401, body: { code: "ENROLLMENT_KEY_EXPIRED" } });
    const single = await makeKey(server, { orgId, maxUsage: 1 });
    expect((await enroll(server, single)).status).toBe(201);
    expect(await enroll(server, single, { hostname: "second" })).toMatchObject({
      status: 401,
      body: { code: "ENROLLMENT_KEY_EXHAUSTED" },
    });
    const denied = await auditOf(
      server,
      (entry) => entry.details["enrollmentKeyId"] === single.id && entry.result === "denied",
    );
    expect(denied).toMatchObject([
      { action: "agent.enroll", orgId, actorType: "agent", details: { errorCode: "ENROLLMENT_KEY_EXHAUSTED" } },
    ]);
  });

  it("keeps a use spent when its device is gone: a deleted node never frees a single-use key (C01)", async () => {
    const key = await makeKey(server, { orgId, maxUsage: 1 });
    const { body } = await enroll(server, key);
    await server.db
      .updateTable("devices")
      .set({ status: "decommissioned", agentTokenHash: null })
      .where("id", "=", body.deviceId)
      .execute();
    expect((await enroll(server, key)).body.code).toBe("ENROLLMENT_KEY_EXHAUSTED");
    await server.db.deleteFrom("devices").where("id", "=", body.deviceId).execute();
    expect((await enroll(server, key)).body.code).toBe("ENROLLMENT_KEY_EXHAUSTED");
    expect(await usageOf(server, key)).toBe(1);
  });

  it("accepts a key hashed with an older pepper", async () => {
    const key = await makeKey(server, { orgId, pepper: 1 });
    expect((await enroll(server, key)).status).toBe(201);
  });

  it("lets exactly five of forty simultaneous devices in on a key of five (C02)", async () => {
    const crowd = await freshOrg("crowd");
    const key = await makeKey(server, { orgId: crowd.orgId, maxUsage: 5 });
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => enroll(server, key, { hostname: `crowd-${n}` })),
    );
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(5);
    expect(answers.filter((answer) => answer.body.code === "ENROLLMENT_KEY_EXHAUSTED")).toHaveLength(35);
    expect(await usageOf(server, key)).toBe(5);
    expect(await deviceCount(crowd.orgId)).toBe(5);
    const sites = await server.db
      .selectFrom("sites")
      .select(["name", "timezone"])
      .where("orgId", "=", crowd.orgId)
      .execute();
    expect(sites).toEqual([{ name: "Default", timezone: "UTC" }]);
  });

  it("makes one Default site for devices that arrive on different keys at once", async () => {
    const empty = await freshOrg("no-sites");
    const keys = await Promise.all([1, 2, 3, 4].map(() => makeKey(server, { orgId: empty.orgId })));
    const answers = await Promise.all(keys.map((key) => enroll(server, key)));
    expect(new Set(answers.map((answer) => answer.body.siteId)).size).toBe(1);
    const made = await auditOf(server, (entry) => entry.action === "site.create" && entry.orgId === empty.orgId);
    expect(made).toHaveLength(1);
    const siteId = answers[0]?.body.siteId;
    expect(await eventsOf(server.db, siteId)).toMatchObject([
      { kind: "site.created", orgId: empty.orgId, siteId, data: { siteName: "Default" } },
    ]);
  });

  it("asks for the key's secret, else the server's, in body or header", async () => {
    const guarded = await makeKey(server, { orgId, secret: "s3cret" });
    expect(await enroll(server, guarded)).toMatchObject({ status: 403, body: { code: "ENROLLMENT_SECRET_REQUIRED" } });
    const wrong = await enroll(server, guarded, { enrollmentSecret: "nope" });
    expect(wrong).toMatchObject({ status: 403, body: { code: "ENROLLMENT_SECRET_INVALID" } });
    expect(await usageOf(server, guarded)).toBe(0);
    expect((await enroll(server, guarded, { enrollmentSecret: "s3cret" })).status).toBe(201);
    const byHeader = { headers: { "x-agent-enrollment-secret": "s3cret" } };
    expect((await enroll(server, guarded, {}, byHeader)).status).toBe(201);
  });

  it("refuses tenants that are not active, and consumes nothing", async () => {
    const gone = await freshOrg("gone");
    const key = await makeKey(server, { orgId: gone.orgId });
    const answerFor = async (status: "suspended" | "archived" | "offboarding" | "trial") => {
      await server.db.updateTable("organizations").set({ status }).where("id", "=", gone.orgId).execute();
      const { status: http, body } = await enroll(server, key);
      return [http, body.code];
    };
    expect(await answerFor("suspended")).toEqual([403, "TENANT_INACTIVE"]);
    expect(await answerFor("archived")).toEqual([403, "TENANT_INACTIVE"]);
    expect(await answerFor("offboarding")).toEqual([403, "TENANT_OFFBOARDING"]);
    expect(await answerFor("trial")).toEqual([201, undefined]);
    await server.db.updateTable("partners").set({ status: "suspended" }).where("id", "=", gone.partnerId).execute();
    expect(await answerFor("trial")).toEqual([403, "TENANT_INACTIVE"]);
    expect(await usageOf(server, key)).toBe(1);
  });

  it("places a device at the key's site, else the one it asks for, and at no other organization's", async () => {
    const places = await freshOrg("places");
    const oldest = await makeSite(server, places.orgId, "First");
    server.clock.advance(1_000);
    const second = await makeSite(server, places.orgId, "Second");
    const open = await makeKey(server, { orgId: places.orgId });
    const pinned = await makeKey(server, { orgId: places.orgId, siteId: second });
    expect((await enroll(server, open)).body.siteId).toBe(oldest);
    expect((await enroll(server, open, { siteId: second })).body.siteId).toBe(second);
    expect((await enroll(server, pinned, { siteId: oldest })).body.siteId).toBe(second);
    const foreign = await makeSite(server, orgId, "Foreign");
    expect(await enroll(server, open, { siteId: foreign })).toMatchObject({
      status: 400,
      body: { code: "SITE_NOT_IN_ORG" },
    });
    expect(await usageOf(server, open)).toBe(2);
  });

  it.each(["organization", "partner"])("holds the %s's cap when devices arrive at once", async (owner) => {
    const capped = await freshOrg(`cap-${owner}`);
    if (owner === "partner")
      await server.db.updateTable("partners").set({ maxDevices: 3 }).where("id", "=", capped.partnerId).execute();
    else await server.db.updateTable("organizations").set({ maxDevices: 3 }).where("id", "=", capped.orgId).execute();
    const keys = await Promise.all([1, 2].map(() => makeKey(server, { orgId: capped.orgId })));
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => enroll(server, keys[n % 2] as { id: string; raw: string })),
    );
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(3);
    const refused = answers.filter((answer) => answer.status !== 201);
    for (const answer of refused) {
      expect(answer).toMatchObject({
        status: 403,
        body: { code: "DEVICE_LIMIT_REACHED", details: { current: 3, max: 3 } },
      });
    }
    const used = await Promise.all(keys.map((key) => usageOf(server, key)));
    expect(used.reduce((sum: number, count) => sum + (count ?? 0), 0)).toBe(3);
  });

  it("gives a device that presents its current token new tokens, not a second row", async () => {
    const again = await freshOrg("again");
    await server.db.updateTable("organizations").set({ maxDevices: 1 }).where("id", "=", again.orgId).execute();
    const key = await makeKey(server, { orgId: again.orgId });
    const first = (await enroll(server, key)).body;
    await server.db.updateTable("devices").set({ status: "offline" }).where("id", "=", first.deviceId).execute();
    const second = (await enroll(server, key, { hostname: "renamed" }, { token: first.agentToken })).body;
    expect(second).toMatchObject({ deviceId: first.deviceId, agentId: first.agentId, siteId: first.siteId });
    expect(await deviceRow(first.deviceId)).toMatchObject({ hostname: "renamed", status: "online" });
    const beat = (token: string) =>
      server.request("POST", `/agents/${first.agentId}/heartbeat`, {
        token,
        body: { status: "ok", agentVersion: "1" },
      });
    expect((await beat(second.agentToken)).status).toBe(200);
    expect((await beat(first.agentToken)).status).toBe(200);
    server.clock.advance(600_000);
    expect((await beat(first.agentToken)).body.code).toBe("INVALID_AGENT_CREDENTIALS");
    expect(await deviceCount(again.orgId)).toBe(1);
    expect(await usageOf(server, key)).toBe(2);
    expect((await eventsOf(server.db, first.deviceId)).map(({ kind, data }) => [kind, data])).toMatchObject([
      ["device.enrolled", { again: false }],
      ["device.enrolled", { again: true, deviceName: "renamed" }],
      ["device.online", { previousStatus: "offline" }],
    ]);
  });

  it("makes a new device for a token of another organization, of the watchdog, or none at all", async () => {
    const mine = await freshOrg("mine");
    const key = await makeKey(server, { orgId: mine.orgId });
    const foreign = (await enroll(server, await makeKey(server, { orgId }))).body;
    const own = (await enroll(server, key)).body;
    const ids = new Set([own.deviceId]);
    for (const token of [foreign.agentToken, own.watchdogToken, "not-a-token"]) {
      ids.add((await enroll(server, key, {}, { token })).body.deviceId);
    }
    expect(ids.size).toBe(4);
  });

  it("keeps a quarantined device out, under its token and under any spelling of its name", async () => {
    const sick = await freshOrg("sick");
    const key = await makeKey(server, { orgId: sick.orgId });
    const { body } = await enroll(server, key, { hostname: "Patient" });
    await server.db.updateTable("devices").set({ status: "quarantined" }).where("id", "=", body.deviceId).execute();
    const refusal = { status: 403, body: { code: "DEVICE_QUARANTINED" } };
    expect(await enroll(server, key, { hostname: "PATIENT" })).toMatchObject(refusal);
    expect(await enroll(server, key, { hostname: "other" }, { token: body.agentToken })).toMatchObject(refusal);
    expect((await enroll(server, key, { hostname: "other" })).status).toBe(201);
  });

  it("needs a name and a system, and lets a machine in without its malformed parts, which it is told (C61)", async () => {
    const key = await makeKey(server, { orgId });
    for (const bad of [{ hostname: " " }, { hostname: 7 }, { osType: "beos" }])
      expect(await enroll(server, key, bad)).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
    expect(await usageOf(server, key)).toBe(0);
    const { status, body } = await enroll(server, key, {
      hostname: "x".repeat(300),
      osVersion: "",
      architecture: undefined,
      agentVersion: 3,
      siteId: "none",
      hardware: { cpuCores: 8.5, ramTotalMb: "16384", model: "T14", gpuModel: null },
      network: Array.from({ length: 130 }, (_, n) => ({ interfaceName: n === 3 ? "" : `eth${n}` })),
      surprise: true,
    });
    expect(status).toBe(201);
    expect(body.ignoredFields.toSorted()).toEqual([
      "agentVersion",
      "hardware.cpuCores",
      "hardware.ramTotalMb",
      "network",
      "osVersion",
      "siteId",
      "surprise",
    ]);
    const whole = {
      network: [
        { interfaceName: "eth0" },
        { interfaceName: "eth1", ipAddress: 7 },
        { interfaceName: "eth2", ipAddress: 7 },
      ],
    };
    expect((await enroll(server, key, whole)).body.ignoredFields).toEqual(["network[1].ipAddress"]);
    const row = server.db.selectFrom("devices").selectAll().where("id", "=", body.deviceId);
    expect(await row.executeTakeFirstOrThrow()).toMatchObject({
      hostname: "x".repeat(255),
      osVersion: "unknown",
      architecture: "unknown",
      agentVersion: "unknown",
    });
    const nets = server.db.selectFrom("deviceInterfaces").selectAll().where("deviceId", "=", body.deviceId);
    expect(await nets.execute()).toHaveLength(100);
  });

  it("gives the same machine its device again when the answer was lost, and nobody else (C62)", async () => {
    const key = await makeKey(server, { orgId, maxUsage: 1, secret: "second" });
    const nonce = "a".repeat(64);
    const again = (fields: object = {}) =>
      enroll(server, key, { hostname: "lost", enrollmentNonce: nonce, enrollmentSecret: "second", ...fields });
    const first = await again();
    await server.db.updateTable("enrollmentKeys").set({ keyHash: "rotated" }).where("id", "=", key.id).execute();
    server.clock.advance(3_600_000);
    const second = await again();
    expect(second).toMatchObject({ status: 201, body: { deviceId: first.body.deviceId, agentId: first.body.agentId } });
    expect(second.body.agentToken).not.toBe(first.body.agentToken);
    expect(await usageOf(server, key)).toBe(1);
    const beat = (token: string) =>
      server.request("POST", `/agents/${first.body.agentId}/heartbeat`, { token, body: { status: "ok" } });
    expect((await beat(second.body.agentToken)).status).toBe(200);
    // The pair that may never have arrived lasts ten more minutes.
    expect((await beat(first.body.agentToken)).status).toBe(200);
    expect((await again({ enrollmentNonce: "b".repeat(64) })).body.code).toBe("ENROLLMENT_KEY_NOT_FOUND");
    expect((await again({ enrollmentSecret: "guess" })).body.code).toBe("ENROLLMENT_SECRET_INVALID");
    await server.db
      .updateTable("devices")
      .set({ status: "quarantined" })
      .where("id", "=", first.body.deviceId)
      .execute();
    expect((await again()).body.code).toBe("DEVICE_QUARANTINED");
    await server.db.updateTable("devices").set({ status: "online" }).where("id", "=", first.body.deviceId).execute();
    server.clock.advance(86_400_000);
    expect((await again()).body.code).toBe("ENROLLMENT_KEY_NOT_FOUND");
  });
});

describe("enrollment limits and the global secret", () => {
  it("lets ten enrollments a minute and address through", async () => {
    const server = await startTestServer("sqlite", { AGENT_ENROLLMENT_SECRET: "global" });
    try {
      const { orgIds } = await seedPartner(server, "limited", ["limited"]);
      const key = await makeKey(server, { orgId: orgIds[0] as string });
      const own = await makeKey(server, { orgId: orgIds[0] as string, secret: "own" });
      expect((await enroll(server, key)).body.code).toBe("ENROLLMENT_SECRET_REQUIRED");
      expect((await enroll(server, own, { enrollmentSecret: "global" })).body.code).toBe("ENROLLMENT_SECRET_INVALID");
      expect((await enroll(server, key, { enrollmentSecret: "global" })).status).toBe(201);
      for (let n = 0; n < 7; n += 1) await enroll(server, key);
      const over = await enroll(server, key, { enrollmentSecret: "global" });
      expect(over).toMatchObject({ status: 429, body: { code: "RATE_LIMITED" } });
      expect(Number(over.headers.get("retry-after"))).toBeGreaterThan(0);
      server.clock.advance(62_000);
      expect((await enroll(server, key, { enrollmentSecret: "global" })).status).toBe(201);
    } finally {
      await server.stop();
    }
  });
});
