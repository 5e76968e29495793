import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asSystem } from "#server/db/as-system";
import { auditOf } from "../../../test/audit-of.ts";
import { enroll, makeKey, makeSite, type TestKey } from "../../../test/enroll.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { insertCommand } from "./insert-command.ts";
import { endOverdueCommands, forgetCommands } from "./sweep.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;

describe.each(databases)("device commands on %s", (database) => {
  let server: TestServer;
  let partnerId: string;
  let orgId: string;
  let siteId: string;
  let key: TestKey;
  let admin: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database, { AGENT_ENROLL_RATE_LIMIT: "100000" });
    const made = await seedPartner(server, "acme", ["acme", "quiet"]);
    partnerId = made.partnerId;
    orgId = made.orgIds[0] as string;
    siteId = await makeSite(server, orgId, "HQ");
    key = await makeKey(server, { orgId });
    admin = await server.signIn({ role: "Partner Admin", partnerId });
  });
  afterAll(() => server?.stop());

  /** Access tokens last 15 minutes. */
  const later = async (ms: number) => {
    server.clock.advance(ms);
    admin = await server.signIn({ role: "Partner Admin", partnerId });
  };
  const device = async (hostname: string, fields: object = {}) => {
    const { body } = await enroll(server, key, { hostname, ...fields });
    const id: string = body.deviceId;
    const path = `/agents/${body.agentId}`;
    const call = (method: string, rest: string, token: string, sent?: unknown) =>
      server.request(method, `${path}${rest}`, { token, ...(sent === undefined ? {} : { body: sent }) });
    return {
      id,
      body,
      queue: (type: string, payload?: object) =>
        server.request("POST", `/devices/${id}/commands`, { token: admin.token, body: { type, payload } }),
      claim: async (token = body.agentToken) => (await call("GET", "/commands", token)).body.commands,
      poll: (wait: number) => call("GET", `/commands?wait=${wait}`, body.agentToken),
      beat: (fields: object = {}, token = body.agentToken) =>
        call("POST", "/heartbeat", token, { status: "ok", ...fields }),
      answer: (commandId: string, sent: object, token = body.agentToken) =>
        call("POST", `/commands/${commandId}/result`, token, sent),
      show: async (commandId: string) =>
        (await server.request("GET", `/devices/${id}/commands/${commandId}`, { token: admin.token })).body,
      set: (change: object) => server.db.updateTable("devices").set(change).where("id", "=", id).execute(),
      row: () => server.db.selectFrom("devices").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),
    };
  };
  const inside = <R>(work: Parameters<ReturnType<ReturnType<typeof asSystem>["transaction"]>["execute"]>[0]) =>
    asSystem(server.services, "work commands").transaction().execute(work) as Promise<R>;
  const raw = (id: string) =>
    server.db.selectFrom("deviceCommands").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

  it("goes from the queue to the agent and back, once", async () => {
    const pc = await device("loop");
    const queued = await pc.queue("reboot", { delayMinutes: 5, reason: "patches" });
    expect(queued).toMatchObject({
      status: 201,
      body: { type: "reboot", status: "pending", deviceId: pc.id, createdBy: admin.userId, origin: null, result: null },
    });
    const { id } = queued.body;
    expect(await pc.claim()).toEqual([{ id, type: "reboot", payload: { delayMinutes: 5, reason: "patches" } }]);
    expect(await pc.claim()).toEqual([]);
    expect(await pc.show(id)).toMatchObject({ status: "sent", sentAt: server.clock.now() });
    expect(
      (await pc.answer(id, { status: "completed", exitCode: 0, stdout: '{"ok":true}', durationMs: 12 })).body,
    ).toEqual({
      success: true,
    });
    expect(await pc.show(id)).toMatchObject({
      status: "completed",
      completedAt: server.clock.now(),
      result: { status: "completed", exitCode: 0, data: { ok: true }, durationMs: 12 },
    });
    const entries = await auditOf(server, (entry) => entry.details["commandId"] === id);
    expect(entries.map(({ action, result }) => [action, result])).toEqual([
      ["device.command.queue", "success"],
      ["agent.command.result.submit", "success"],
    ]);
  });

  it("ignores a second answer and one for what was never handed out, and keeps the first that comes late", async () => {
    const pc = await device("repeats");
    const { id } = (await pc.queue("lock")).body;
    expect((await pc.answer(id, { status: "completed" })).body).toEqual({ success: true, ignored: true });
    expect(await pc.show(id)).toMatchObject({ status: "pending", result: null });
    await pc.claim();
    await pc.answer(id, { status: "failed", error: "no" });
    for (const stdout of ["late", "later"])
      expect((await pc.answer(id, { status: "completed", stdout })).body).toEqual({ success: true, ignored: true });
    expect(await pc.show(id)).toMatchObject({ status: "failed", result: { status: "failed", error: "no" } });
    const told = (await eventsOf(server.db, pc.id)).filter(({ data }) => data["commandId"] === id);
    expect(told.map(({ kind }) => kind)).toEqual(["device.command.failed"]);
    expect((await raw(id)).outcome).toMatchObject({ late: { status: "completed", stdout: "late" } });
    const entries = await auditOf(server, (entry) => entry.details["commandId"] === id);
    expect(entries).toHaveLength(2);
  });

  it("answers 404 for a command of another device, and for the other credential's", async () => {
    const [pc, other] = [await device("mine"), await device("theirs")];
    const { id } = (await pc.queue("lock")).body;
    await pc.claim();
    expect((await other.answer(id, { status: "completed" })).status).toBe(404);
    expect((await pc.answer(id, { status: "completed" }, pc.body.watchdogToken)).status).toBe(404);
    expect(await pc.show(id)).toMatchObject({ status: "sent" });
  });

  it("is run by the watchdog while that stands in for a silent agent", async () => {
    const pc = await device("failover");
    await pc.beat({ watchdogState: "FAILOVER" }, pc.body.watchdogToken);
    const { id } = (await pc.queue("reboot")).body;
    expect(await pc.claim()).toEqual([]);
    const { commands } = (await pc.beat({ watchdogState: "FAILOVER" }, pc.body.watchdogToken)).body;
    expect(commands).toEqual([{ id, type: "reboot", payload: {} }]);
    expect((await pc.answer(id, { status: "completed" })).status).toBe(404);
    expect((await pc.answer(id, { status: "completed" }, pc.body.watchdogToken)).body).toEqual({ success: true });
  });

  it("hands each command to one of many claims, ten at a time, oldest first", async () => {
    const pc = await device("crowd");
    const ids: string[] = [];
    for (let n = 0; n < 12; n += 1) ids.push((await pc.queue("lock")).body.id);
    const claims = await Promise.all(Array.from({ length: 4 }, () => pc.claim()));
    const rest = await pc.claim();
    const handed = [...claims.flat(), ...rest].map((one) => one.id);
    expect(new Set(handed).size).toBe(handed.length);
    expect(handed.toSorted()).toEqual(ids.toSorted());
    for (const claim of claims) expect(claim.length).toBeLessThanOrEqual(10);
  });

  it("reaches a waiting poll as soon as it is queued", async () => {
    const pc = await device("poll");
    const waiting = pc.poll(30);
    const { id } = (await pc.queue("lock")).body;
    expect((await waiting).body.commands).toEqual([{ id, type: "lock", payload: {} }]);
  });

  it("ends by the clock: cancelled if it never ran, timed out if it may have", async () => {
    const pc = await device("overdue");
    const [waits, runs] = [(await pc.queue("lock")).body.id, (await pc.queue("shutdown")).body.id];
    await server.db
      .updateTable("deviceCommands")
      .set({ targetRole: "watchdog" } as never)
      .where("id", "=", waits)
      .execute();
    await pc.claim();
    await later(61 * MINUTE);
    expect(await endOverdueCommands(server.services)).toBeGreaterThanOrEqual(2);
    expect(await pc.show(waits)).toMatchObject({ status: "cancelled", sentAt: null, result: { reason: "expired" } });
    expect(await pc.show(runs)).toMatchObject({
      status: "timeout",
      result: { reason: "expired", timedOutBy: "server" },
    });
    expect((await pc.answer(runs, { status: "completed" })).body).toEqual({ success: true, ignored: true });
    expect(await pc.show(runs)).toMatchObject({ status: "timeout" });
  });

  it("masks secrets for readers, hands them to the agent, and forgets them at the end", async () => {
    const pc = await device("secret");
    const payload = { target: "10.0.0.9", community: "hunter2-community" };
    const target = { ...(await pc.row()), watchdogStatus: null };
    const id = await inside<string>((tx) =>
      insertCommand(tx, server.services, { device: target, type: "snmp_test", payload }),
    );
    expect(JSON.stringify(await raw(id))).not.toContain("hunter2");
    expect(await pc.show(id)).toMatchObject({ type: "snmp_test", payload: null });
    expect(await pc.claim()).toEqual([{ id, type: "snmp_test", payload }]);
    await pc.answer(id, { status: "completed", stdout: "secret output", exitCode: 0 });
    expect((await raw(id)).payloadSealed).toBeNull();
    // What a feature asked for is read at the feature.
    expect((await pc.show(id)).result).toEqual({ status: "completed", exitCode: 0 });
  });

  it("fails, and the agent does not, when the room of its type cannot take the answer", async () => {
    const pc = await device("consumer");
    const { id } = (await pc.queue("lock")).body;
    await pc.claim();
    const { hooks } = server.services;
    const failing = {
      ...hooks,
      async onCommandEnded({ tx }: Parameters<typeof hooks.onCommandEnded>[0]) {
        await tx.updateTable("devices").set({ displayName: "half done" }).where("id", "=", pc.id).execute();
        throw new Error("cannot");
      },
    };
    Object.assign(server.services, { hooks: failing });
    try {
      expect((await pc.answer(id, { status: "completed" })).status).toBe(200);
    } finally {
      Object.assign(server.services, { hooks });
    }
    expect(await pc.show(id)).toMatchObject({
      status: "failed",
      result: { error: "The result could not be processed" },
    });
    expect((await pc.row()).displayName).toBeNull();
  });

  it.each([
    ["script", {}, "USE_SCRIPT_ENDPOINT"],
    ["self_uninstall", {}, "COMMAND_TYPE_NOT_ALLOWED"],
    ["wake_on_lan", {}, "COMMAND_TYPE_NOT_ALLOWED"],
    ["__proto__", {}, "COMMAND_TYPE_NOT_ALLOWED"],
    ["reboot", { delayMinutes: 1441 }, "VALIDATION_ERROR"],
    ["reboot", { reason: "a\u0007b" }, "VALIDATION_ERROR"],
    ["lock", { extra: 1 }, "VALIDATION_ERROR"],
    ["update", { version: "1.2" }, "VALIDATION_ERROR"],
    ["update", { version: "0.9.9" }, "VALIDATION_ERROR"],
  ])("refuses %s with %j: %s", async (type, payload, code) => {
    const pc = await device(`refused-${type}-${code}`);
    expect(await pc.queue(type, payload)).toMatchObject({ status: 400, body: { code } });
    expect(await pc.claim()).toEqual([]);
  });

  it("refuses by system, status, tenant and what is on its way", async () => {
    const mac = await device("mac", { osType: "macos" });
    expect((await mac.queue("reboot_safe_mode")).body.code).toBe("UNSUPPORTED_OS");
    const first = await mac.queue("refresh_inventory");
    expect(await mac.queue("refresh_inventory")).toMatchObject({
      status: 409,
      body: { code: "ALREADY_PENDING", details: { commandId: first.body.id } },
    });
    for (const [status, answer] of [
      ["pending", { status: 409, body: { code: "INVALID_STATE", details: { status: "pending" } } }],
      ["quarantined", { status: 409, body: { code: "INVALID_STATE" } }],
      ["decommissioned", { status: 400, body: { code: "DEVICE_DECOMMISSIONED" } }],
    ] as const) {
      await mac.set({ status });
      expect(await mac.queue("lock")).toMatchObject(answer);
    }
    await mac.set({ status: "online" });
    const org = (status: "suspended" | "archived" | "active") =>
      server.db.updateTable("organizations").set({ status }).where("id", "=", orgId).execute();
    await org("suspended");
    const suspended = await mac.queue("lock");
    await org("archived");
    const archived = await mac.queue("lock");
    await org("active");
    expect(suspended).toMatchObject({ status: 403, body: { code: "ORG_SUSPENDED" } });
    expect(archived).toMatchObject({ status: 409, body: { code: "ORG_READ_ONLY" } });
    expect(await mac.claim()).toEqual([{ id: first.body.id, type: "refresh_inventory", payload: {} }]);
  });

  it("are counted with their device until its agent collects them", async () => {
    const [busy, idle] = [await device("counted-busy"), await device("counted-idle")];
    for (const type of ["lock", "collect_logs"]) await busy.queue(type);
    const ask = async (path: string) => (await server.request("GET", path, { token: admin.token })).body;
    const told = (rows: { id: string; pendingCommandCount?: number }[]) =>
      [busy, idle].map(({ id }) => rows.find((row) => row.id === id)?.pendingCommandCount);
    const conditions = {
      operator: "AND",
      conditions: [{ field: "hostname", operator: "startsWith", value: "counted-" }],
    };
    const matching = async (body: object) =>
      (await server.request("POST", "/devices/query", { token: admin.token, body: { conditions, ...body } })).body;
    const list = "/devices?search=counted-";
    expect(told((await ask(`${list}&cursor=&includePending=true`)).devices)).toEqual([2, 0]);
    expect(told((await ask(`${list}&includePending=true`)).data)).toEqual([2, 0]);
    expect(told((await matching({ includePending: true })).devices)).toEqual([2, 0]);
    const plain = [
      ...(await ask(`${list}&cursor=`)).devices,
      ...(await ask(list)).data,
      ...(await matching({})).devices,
    ];
    expect(plain).toHaveLength(6);
    for (const row of plain) expect(row).not.toHaveProperty("pendingCommandCount");
    expect((await ask(`/devices/${busy.id}`)).pendingCommandCount).toBe(2);
    await busy.claim();
    expect((await ask(`/devices/${busy.id}`)).pendingCommandCount).toBe(0);
    expect(told((await ask(`${list}&cursor=&includePending=true`)).devices)).toEqual([0, 0]);
  });

  it("wakes a device through a neighbour that shares its network", async () => {
    const net = (ipAddress: string, macAddress?: string) => ({
      siteId,
      network: [{ interfaceName: "eth0", ipAddress, ...(macAddress && { macAddress }) }],
    });
    const asleep = await device("asleep", net("10.7.0.4", "aa:bb:cc:dd:ee:ff"));
    expect(await asleep.queue("wake")).toMatchObject({ status: 412, body: { code: "NO_RELAY" } });
    const [far, near] = [await device("far", net("10.8.0.5")), await device("near", net("10.7.0.9"))];
    expect(await far.queue("wake")).toMatchObject({ status: 412, body: { code: "NO_MAC" } });
    const woken = await asleep.queue("wake");
    expect(woken.body).toMatchObject({ type: "wake_on_lan", deviceId: near.id });
    expect(await near.claim()).toMatchObject([{ payload: { macs: ["aa:bb:cc:dd:ee:ff"], broadcast: "10.7.0.255" } }]);
  });

  it.skipIf(database === "sqlite")("wakes through nobody who is being cut off at that moment", async () => {
    const network = (ipAddress: string) => [{ interfaceName: "eth0", ipAddress, macAddress: "aa:bb:cc:dd:ee:01" }];
    const own = await makeSite(server, orgId, "Shed");
    const asleep = await device("deep-asleep", { siteId: own, network: network("10.9.0.4") });
    const relay = await device("going", { siteId: own, network: network("10.9.0.5") });
    const asked = await server.db.transaction().execute(async (tx) => {
      await tx.updateTable("devices").set({ status: "quarantined" }).where("id", "=", relay.id).execute();
      const waiting = asleep.queue("wake");
      // Either it waits for the one who cuts off, or it has queued what nobody will end.
      await Promise.race([waiting, new Promise((done) => setTimeout(done, 300))]);
      return { waiting };
    });
    expect((await asked.waiting).body.code).toBe("NO_RELAY");
    const left = server.db.selectFrom("deviceCommands").select("id").where("deviceId", "=", relay.id);
    expect(await left.execute()).toEqual([]);
  });

  it("is sent to many devices at once: each is judged by itself", async () => {
    const [one, two, gone] = [await device("bulk-1"), await device("bulk-2"), await device("bulk-3")];
    await gone.set({ status: "decommissioned" });
    const { id } = (await two.queue("refresh_inventory")).body;
    const nobody = server.services.random.uuid();
    const deviceIds = [one.id, one.id, two.id, gone.id, nobody];
    const answer = await server.request("POST", "/devices/bulk/commands", {
      token: admin.token,
      body: { deviceIds, type: "refresh_inventory" },
    });
    expect(answer.status).toBe(201);
    expect(answer.body.commands).toMatchObject([{ deviceId: one.id, status: "pending" }]);
    expect(answer.body.skipped).toEqual([{ deviceId: two.id, code: "ALREADY_PENDING", commandId: id }]);
    expect(
      answer.body.failed.map((item: { deviceId: string; code: string }) => [item.deviceId, item.code]).sort(),
    ).toEqual(
      [
        [gone.id, "DEVICE_DECOMMISSIONED"],
        [nobody, "NOT_FOUND"],
      ].sort(),
    );
  });

  it("is out of reach of a person confined to another site, by id and in bulk (C10)", async () => {
    const pc = await device("here", { siteId });
    const { id } = (await pc.queue("lock")).body;
    const other = await makeSite(server, orgId, "Elsewhere");
    const { token } = await server.signIn({ role: "Org Admin", orgId, siteIds: [other] });
    for (const [method, path] of [
      ["GET", `/devices/${pc.id}/commands`],
      ["GET", `/devices/${pc.id}/commands/${id}`],
    ] as const)
      expect(await server.request(method, path, { token })).toMatchObject({
        status: 403,
        body: { code: "SITE_ACCESS_DENIED" },
      });
    const bulk = { deviceIds: [pc.id], type: "lock" };
    const answer = await server.request("POST", "/devices/bulk/commands", { token, body: bulk });
    expect(answer.body).toMatchObject({ commands: [], failed: [{ deviceId: pc.id, code: "SITE_ACCESS_DENIED" }] });
    expect(await pc.claim()).toHaveLength(1);
  });

  it("is listed newest first, by status and type, and dropped 90 days after its end", async () => {
    const pc = await device("history");
    const first = (await pc.queue("lock")).body.id;
    await later(1_000);
    const second = (await pc.queue("reboot")).body.id;
    const list = async (query: string) =>
      (await server.request("GET", `/devices/${pc.id}/commands?${query}`, { token: admin.token })).body.data.map(
        (one: { id: string }) => one.id,
      );
    expect(await list("")).toEqual([second, first]);
    expect(await list("type=lock")).toEqual([first]);
    await pc.claim();
    await pc.answer(first, { status: "completed" });
    expect(await list("status=completed")).toEqual([first]);
    await later(91 * DAY);
    await forgetCommands(server.services);
    expect(await list("")).toEqual([second]);
  });
});
