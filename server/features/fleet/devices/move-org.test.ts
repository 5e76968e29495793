import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadAgent } from "#server/access/load-agent";
import { scopeOf } from "#server/access/principal";
import { type Tx, UnitOfWork } from "#server/db/unit-of-work";
import { DAY } from "#server/platform/clock";
import { auditOf } from "../../../test/audit-of.ts";
import { enroll, makeKey, makeSite } from "../../../test/enroll.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { recordMain } from "../agents/heartbeat-main.ts";
import { recordWatchdog } from "../agents/heartbeat-watchdog.ts";
import { storeSamples } from "../agents/sample-batch.ts";
import { dropAvailability } from "./drop-availability.ts";
import { giveUpAwaited } from "./give-up-awaited.ts";
import { holdDevice } from "./hold-device.ts";

describe.each(databases)("devices that change their organization on %s", (database) => {
  let server: TestServer;
  let partnerId: string;
  let [from, to, third] = ["", "", ""];
  let [fromSite, toSite, thirdSite] = ["", "", ""];
  let admin: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database, { AGENT_ENROLL_RATE_LIMIT: "100000" });
    const made = await seedPartner(server, "acme", ["source-dental", "target-legal", "third-party"]);
    partnerId = made.partnerId;
    [from, to, third] = made.orgIds as [string, string, string];
    fromSite = await makeSite(server, from, "Leaving Street");
    toSite = await makeSite(server, to, "Arriving Road");
    thirdSite = await makeSite(server, third, "Third");
    admin = await server.signIn({ role: "Partner Admin", partnerId });
  });
  afterAll(() => server?.stop());

  const asked = (method: string, path: string, body?: object, token = admin.token) =>
    server.request(method, path, { token, ...(body === undefined ? {} : { body }) });
  const move = (id: string, place: object = { orgId: to, siteId: toSite }, token = admin.token) =>
    asked("POST", `/devices/${id}/move-org`, place, token);
  const refused = (status: number, code: string) => ({ status, body: { code } });
  const where = (id: string) => ({
    row: () => server.db.selectFrom("devices").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),
    of: (table: "deviceHardware" | "deviceInterfaces" | "deviceDisks" | "deviceSoftware" | "deviceSourceIps") =>
      server.db.selectFrom(table).select("orgId").where("deviceId", "=", id).execute(),
    samples: () => server.db.selectFrom("deviceMetrics").select("orgId").where("deviceId", "=", id).execute(),
    availability: (orgId: string) =>
      server.db
        .selectFrom("deviceAvailability")
        .select(["deviceId", "hostname", "state"])
        .where("orgId", "=", orgId)
        .where((eb) => eb.or([eb("deviceId", "=", id), eb("deviceId", "is", null)]))
        .orderBy("at")
        .execute(),
  });
  const command = (id: string) =>
    server.db.selectFrom("deviceCommands").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  async function machine(hostname: string, more: object = {}) {
    const key = await makeKey(server, { orgId: from, siteId: fromSite });
    const { body } = await enroll(server, key, { hostname, ...more });
    const call = (method: string, rest: string, sent?: object) =>
      asked(method, `/agents/${body.agentId}${rest}`, sent, body.agentToken);
    return {
      ...{ id: body.deviceId as string, token: body.agentToken as string, key, call },
      beat: (sent: object = {}) => call("POST", "/heartbeat", { status: "ok", ...sent }),
      claim: async (): Promise<{ id: string }[]> => (await call("GET", "/commands")).body.commands,
      answer: (id: string) => call("POST", `/commands/${id}/result`, { status: "completed" }),
      queue: (type: string) => asked("POST", `/devices/${body.deviceId}/commands`, { type }),
      ...where(body.deviceId),
    };
  }
  const metrics = { cpuPercent: 1, ramPercent: 2, diskPercent: 3 };

  it("take along what describes them, and leave what happened where it did", async () => {
    const hardware = { model: "OptiPlex", serialNumber: "S1" };
    const pc = await machine("traveller", { hardware, network: [{ interfaceName: "eth0", ipAddress: "10.0.0.4" }] });
    await pc.call("PUT", "/inventory", { disks: [{ mountPoint: "C:", totalGb: 10 }] });
    await pc.call("PUT", "/software", { software: [{ name: "Editor" }, { name: "Mail" }] });
    await pc.beat({ metrics });
    await asked("PATCH", `/devices/${pc.id}`, { tags: ["vip"], displayName: "Front desk" });
    await server.db
      .insertInto("deviceSourceIps")
      .values({ orgId: from, deviceId: pc.id, ip: "203.0.113.9", auditedAt: server.clock.now() })
      .execute();
    const sent = (await pc.queue("lock")).body.id as string;
    expect(await pc.claim()).toMatchObject([{ id: sent }]);
    const pending = (await pc.queue("reboot")).body.id as string;

    const moved = await move(pc.id);
    expect(moved).toMatchObject({
      status: 200,
      body: {
        success: true,
        device: { id: pc.id, orgId: to, siteId: toSite, tags: ["vip"], displayName: "Front desk" },
      },
    });
    expect(await pc.row()).toMatchObject({ partnerId, status: "online" });
    for (const table of ["deviceHardware", "deviceInterfaces", "deviceDisks"] as const)
      expect(await pc.of(table), table).toEqual([{ orgId: to }]);
    expect(await pc.of("deviceSoftware")).toEqual([{ orgId: to }, { orgId: to }]);
    expect(await pc.of("deviceSourceIps")).toEqual([]);
    const shown = (await asked("GET", `/devices/${pc.id}`)).body;
    expect(shown).toMatchObject({
      hardware,
      disks: [{ mountPoint: "C:" }],
      networkInterfaces: [{ ipAddress: "10.0.0.4" }],
    });
    expect([shown.metrics, shown.recentMetrics]).toEqual([null, []]);
    expect(await pc.samples()).toEqual([{ orgId: from }]);
    const [left, right] = [await pc.availability(from), await pc.availability(to)];
    expect(left).toEqual([{ deviceId: null, hostname: "traveller", state: "online" }]);
    expect(right).toEqual([{ deviceId: pc.id, hostname: null, state: "online" }]);
    const detached = { orgId: from, deviceId: null, hostname: "traveller" };
    const gone = { reason: "device_moved" };
    expect(await command(pending)).toMatchObject({ ...detached, status: "cancelled", outcome: gone });
    expect(await command(sent)).toMatchObject({
      ...detached,
      status: "timeout",
      outcome: { ...gone, timedOutBy: "server" },
    });
    expect((await asked("GET", `/devices/${pc.id}/commands`)).body.data).toEqual([]);
    const exported = server.db.selectFrom("exportRows").select(["orgId", "siteId"]).where("id", "=", pc.id);
    expect(await exported.execute()).toEqual([{ orgId: to, siteId: toSite }]);

    // The agent goes on with the tokens it has; what it was told before is not its own any more.
    expect(await pc.answer(sent)).toMatchObject(refused(404, "NOT_FOUND"));
    expect((await command(sent)).outcome).not.toHaveProperty("late");
    expect((await pc.beat({ metrics: { ...metrics, cpuPercent: 9 } })).status).toBe(200);
    const next = (await pc.queue("lock")).body.id as string;
    expect(await pc.claim()).toMatchObject([{ id: next }]);
    expect((await pc.answer(next)).body).toEqual({ success: true });
    expect((await asked("GET", `/devices/${pc.id}`)).body.metrics).toMatchObject({ cpuPercent: 9 });
  });

  it("are told of to each organization without a word of the other", async () => {
    const pc = await machine("told");
    await move(pc.id);
    const entries = await auditOf(server, ({ action, resourceId }) => /move_org/.test(action) && resourceId === pc.id);
    expect(entries.map(({ action, orgId, details }) => [action, orgId, details["siteIds"]])).toEqual([
      ["device.move_org.source", from, [fromSite]],
      ["device.move_org.target", to, [toSite]],
    ]);
    const [ofSource, ofTarget] = entries.map((entry) => JSON.stringify(entry)) as [string, string];
    for (const word of [to, toSite, "target-legal", "Arriving Road"]) expect(ofSource).not.toContain(word);
    for (const word of [from, fromSite, "source-dental", "Leaving Street"]) expect(ofTarget).not.toContain(word);
    expect(entries[0]?.details["moveId"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(entries[1]?.details["moveId"]).toBe(entries[0]?.details["moveId"]);
    const told = (await eventsOf(server.db, pc.id)).filter(({ kind }) => kind === "device.moved");
    const data = { deviceId: pc.id, deviceName: "told" };
    expect(told).toEqual([
      { kind: "device.moved", orgId: from, partnerId: null, siteId: fromSite, subjectType: "device", data },
      { kind: "device.moved", orgId: to, partnerId: null, siteId: toSite, subjectType: "device", data },
    ]);
    const [sourceAdmin, targetAdmin] = [
      await server.signIn({ role: "Org Admin", orgId: from }),
      await server.signIn({ role: "Org Admin", orgId: to }),
    ];
    expect((await asked("GET", `/devices/${pc.id}`, undefined, sourceAdmin.token)).status).toBe(404);
    expect((await asked("GET", `/devices/${pc.id}`, undefined, targetAdmin.token)).body.orgId).toBe(to);
  });

  it("keep the custom values that a field of the new organization takes, and those of the partner", async () => {
    const define = (fieldKey: string, type: string, more: object) =>
      asked("POST", "/custom-fields", { name: fieldKey, fieldKey, type, ...more });
    for (const [key, type, place] of [
      ["asset", "text", { ownerScope: "partner" }],
      ...["room", "rack", "only_here"].map((key) => [key, "text", { orgId: from }]),
      ["room", "text", { orgId: to }],
      ["rack", "number", { orgId: to }],
    ] as [string, string, object][])
      expect((await define(key, type, place)).status).toBe(201);
    const pc = await machine("valued");
    const values = { asset: "A1", room: "12", rack: "left", only_here: "secret of the source" };
    expect((await asked("PATCH", `/devices/${pc.id}/custom-fields`, values)).status).toBe(200);
    await move(pc.id);
    expect((await pc.row()).customFields).toEqual({ asset: "A1", room: "12" });
    const [source] = await auditOf(server, ({ action, resourceId }) => /source$/.test(action) && resourceId === pc.id);
    expect(source?.details["droppedCustomFields"]).toEqual(["only_here", "rack"]);
  });

  it("stay where they are when the caller, the target or the state does not allow it", async () => {
    const rival = await seedPartner(server, "rival", ["rival"]);
    const rivalOrg = rival.orgIds[0] as string;
    const rivalSite = await makeSite(server, rivalOrg);
    const pc = await machine("staying");
    const before = await pc.row();
    const as = async (user: object) => (await server.signIn({ role: "Custom", partnerId, ...user } as never)).token;
    const both = ["devices:read", "devices:write", "organizations:write"];
    const chosen = (orgIds: string[]) => as({ permissions: both, orgAccess: "selected", orgIds });
    const system = (await server.signIn({ role: "System Admin" })).token;
    const unknown = server.services.random.uuid();
    const place = { orgId: to, siteId: toSite };
    const orgAdmin = (await server.signIn({ role: "Org Admin", orgId: from })).token;
    const expected: [string, object, string, number, string][] = [
      ["organization scope", place, orgAdmin, 403, "FORBIDDEN"],
      ["no organizations:write", place, await as({ permissions: ["devices:write"] }), 403, "PERMISSION_DENIED"],
      ["no second factor", place, await as({ permissions: both, mfa: false }), 403, "MFA_REQUIRED"],
      ["target not chosen", place, await chosen([from]), 403, "ORG_ACCESS_DENIED"],
      ["source not chosen", place, await chosen([to]), 404, "NOT_FOUND"],
      ["another partner's organization", { orgId: rivalOrg, siteId: rivalSite }, admin.token, 403, "ORG_ACCESS_DENIED"],
      ["unknown organization", { orgId: unknown, siteId: rivalSite }, admin.token, 403, "ORG_ACCESS_DENIED"],
      ["across partners", { orgId: rivalOrg, siteId: rivalSite }, system, 403, "CROSS_PARTNER_MOVE"],
      ["the same organization", { orgId: from, siteId: fromSite }, admin.token, 400, "SAME_ORG"],
      ["site of the source", { orgId: to, siteId: fromSite }, admin.token, 400, "SITE_NOT_IN_ORG"],
      ["site of a stranger", { orgId: to, siteId: rivalSite }, system, 400, "SITE_NOT_IN_ORG"],
      ["unknown site", { orgId: to, siteId: unknown }, admin.token, 400, "SITE_NOT_IN_ORG"],
    ];
    for (const [what, body, token, status, code] of expected)
      expect(await move(pc.id, body, token), what).toMatchObject(refused(status, code));
    const set = (orgId: string, change: object) =>
      server.db.updateTable("organizations").set(change).where("id", "=", orgId).execute();
    for (const side of [from, to]) {
      await set(side, { status: "archived" });
      expect(await move(pc.id)).toMatchObject({
        status: 409,
        body: { code: "ORG_READ_ONLY", details: { status: "archived" } },
      });
      await set(side, { status: "active" });
    }
    await set(to, { maxDevices: 0 });
    expect(await move(pc.id)).toMatchObject({
      status: 403,
      body: { code: "DEVICE_LIMIT_REACHED", details: { max: 0 } },
    });
    await set(to, { maxDevices: null });
    expect(await pc.row()).toEqual(before);
    expect((await eventsOf(server.db, pc.id)).map(({ kind }) => kind)).toEqual(["device.enrolled"]);
    await server.settled();
    for (const { id, name } of [
      { id: to, name: "target-legal" },
      { id: rivalOrg, name: "rival" },
    ]) {
      const entries = await auditOf(server, ({ resourceId, orgId }) => resourceId === pc.id && orgId === from);
      expect(JSON.stringify(entries)).not.toMatch(new RegExp(`${id}|${name}`));
    }
    // One that is in the partner already makes it no bigger.
    await server.db.updateTable("partners").set({ maxDevices: 0 }).where("id", "=", partnerId).execute();
    expect((await move(pc.id)).status).toBe(200);
    await server.db.updateTable("partners").set({ maxDevices: null }).where("id", "=", partnerId).execute();
    await asked("DELETE", `/devices/${pc.id}`);
    expect(await move(pc.id, { orgId: from, siteId: fromSite })).toMatchObject(refused(409, "ALREADY_DECOMMISSIONED"));
  });

  it("owe the old organization nothing: its keys and tokens fetch them back for nobody", async () => {
    const nonce = { enrollmentNonce: "7".repeat(64) };
    const pc = await machine("parted", nonce);
    await move(pc.id);
    const repeated = await enroll(server, pc.key, { hostname: "parted", ...nonce });
    expect([repeated.status, repeated.body.orgId]).toEqual([201, from]);
    expect(repeated.body.deviceId).not.toBe(pc.id);
    const again = await enroll(server, pc.key, { hostname: "parted" }, { token: pc.token });
    expect([again.body.orgId, again.body.deviceId === pc.id]).toEqual([from, false]);
    expect((await pc.beat()).status).toBe(200);

    const body = { orgId: from, siteId: fromSite, hostname: "awaited", osType: "linux" };
    const { device, enrollment } = (await asked("POST", "/devices/provision", body)).body;
    expect((await move(device.id)).body.device.status).toBe("pending");
    const { enrollmentKey: raw, enrollmentSecret } = enrollment;
    expect(await enroll(server, { raw }, { enrollmentSecret })).toMatchObject(refused(401, "ENROLLMENT_KEY_NOT_FOUND"));
    const renewed = await asked("POST", "/devices/provision", { ...body, orgId: to, siteId: toSite });
    expect([renewed.status, renewed.body.device.id]).toEqual([200, device.id]);
    await move(device.id, { orgId: third, siteId: thirdSite });
    server.clock.advance(30 * DAY);
    await giveUpAwaited(server.services);
    admin = await server.signIn({ role: "Partner Admin", partnerId });
    expect((await where(device.id).row()).status).toBe("decommissioned");
  });

  it("are asked to report again when they moved since their token was read, and nothing stays where they were", async () => {
    const pc = await machine("stale");
    const who = await loadAgent(server.services, pc.token, { requestId: "stale", ip: null, userAgent: null });
    await move(pc.id);
    const before = await pc.row();
    const { services } = server;
    const body = { status: "ok", agentVersion: "9", metrics };
    const call = { ...services, services, body, who, ip: "203.0.113.8", serverUrl: server.url } as never;
    const samples = [{ ...metrics, timestamp: server.clock.now() }];
    for (const report of [
      (tx: Tx) => recordMain(call, tx, who),
      (tx: Tx) => recordWatchdog(call, tx, who),
      (tx: Tx) => storeSamples(call, tx, who, samples),
      (tx: Tx) => holdDevice(tx, services, pc.id),
    ])
      await expect(new UnitOfWork(services, scopeOf(who)).transaction<unknown>(report)).rejects.toMatchObject({
        ...{ code: "SERVICE_UNAVAILABLE", options: { retryAfterSeconds: 1 } },
      });
    expect([await pc.samples(), await pc.of("deviceSourceIps"), await pc.row()]).toEqual([[], [], before]);
  });

  it("lose nothing to what happens at the same moment", async () => {
    for (let round = 0; round < 4; round += 1) {
      const pc = await machine(`racing-${round}`);
      const site = await makeSite(server, to, "Short-lived");
      const [moved, other, beaten, claimed, queued, reported] = await Promise.all([
        move(pc.id, { orgId: to, siteId: site }),
        move(pc.id, { orgId: third, siteId: thirdSite }),
        pc.beat({ metrics }),
        pc.call("GET", "/commands"),
        pc.queue("lock"),
        pc.call("PUT", "/inventory", { hardware: { model: "X" }, disks: [{ mountPoint: "D:" }] }),
        asked("DELETE", `/orgs/sites/${site}`),
      ]);
      const won = [moved, other].filter(({ status }) => status === 200);
      expect(
        [moved, other]
          .map(({ status, body }) => body.code ?? status)
          .sort()
          .join(),
      ).toMatch(/^200,(CONCURRENT_MODIFICATION|NOT_FOUND|SITE_NOT_IN_ORG|SAME_ORG|200)$/);
      const last = await pc.row();
      expect(won.map(({ body }) => body.device.orgId)).toContain(last.orgId);
      for (const answer of [beaten, reported]) expect([200, 503]).toContain(answer.status);
      expect([claimed.status, [201, 404, 503].includes(queued.status)]).toEqual([200, true]);
      for (const table of ["deviceHardware", "deviceDisks"] as const)
        for (const { orgId } of await pc.of(table)) expect(orgId, table).toBe(last.orgId);
      const open = await server.db
        .selectFrom("deviceCommands")
        .select(["orgId", "deviceId"])
        .where("hostname", "=", `racing-${round}`)
        .where("status", "in", ["pending", "sent"])
        .execute();
      for (const one of open) expect(one).toEqual({ orgId: last.orgId, deviceId: pc.id });
      expect((await pc.beat()).status).toBe(200);
    }
  });

  it("leave availability for as long as it is kept anywhere", async () => {
    const left = server.db.selectFrom("deviceAvailability").select("id").where("deviceId", "is", null);
    expect((await left.execute()).length).toBeGreaterThan(0);
    server.clock.advance(401 * DAY);
    await dropAvailability(server.services);
    expect(await left.execute()).toEqual([]);
  });
});
