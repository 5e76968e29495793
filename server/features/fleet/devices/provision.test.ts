import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAY, HOUR } from "#server/platform/clock";
import { auditOf } from "../../../test/audit-of.ts";
import { enroll, makeKey, makeSite } from "../../../test/enroll.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { giveUpAwaited } from "./give-up-awaited.ts";
import { schedules } from "./schedules.ts";

describe.each(databases)("devices that are awaited on %s", (database) => {
  let server: TestServer;
  let partnerId: string;
  let [orgId, otherOrgId, siteId, otherSiteId] = ["", "", "", ""];
  let admin: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database, { AGENT_ENROLL_RATE_LIMIT: "100000" });
    const made = await seedPartner(server, "acme", ["acme", "other"]);
    partnerId = made.partnerId;
    [orgId, otherOrgId] = made.orgIds as [string, string];
    [siteId, otherSiteId] = [await makeSite(server, orgId, "HQ"), await makeSite(server, orgId, "Branch")];
    admin = await server.signIn({ role: "Partner Admin", partnerId });
  });
  afterAll(() => server?.stop());

  const later = async (ms: number) => {
    server.clock.advance(ms);
    admin = await server.signIn({ role: "Partner Admin", partnerId });
  };
  const provision = (hostname: string, more: object = {}, token = admin.token, headers = {}) =>
    server.request("POST", "/devices/provision", {
      token,
      headers,
      body: { orgId, siteId, hostname, osType: "windows", ...more },
    });
  type Made = Awaited<ReturnType<typeof provision>>;
  const claim = ({ body }: Made, more: object = {}) => {
    const { enrollmentKey, enrollmentSecret } = body.enrollment;
    return enroll(server, { raw: enrollmentKey }, { enrollmentSecret, hostname: body.device.hostname, ...more });
  };
  const row = (id: string) =>
    server.db.selectFrom("devices").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const named = (hostname: string) =>
    server.db.selectFrom("devices").select("id").where("hostname", "=", hostname).execute();
  const remove = (id: string) => server.request("DELETE", `/devices/${id}`, { token: admin.token });
  const refused = (status: number, code: string) => ({ status, body: { code } });

  it("are made with a key that is shown once, stands in no list and is for them alone (C04)", async () => {
    const more = { displayName: "Till", deviceRole: "iot", tags: ["till", "till"] };
    const made = await provision("till-1", more);
    expect(made).toMatchObject({
      status: 201,
      body: {
        device: { orgId, siteId, hostname: "till-1", displayName: "Till", status: "pending", tags: ["till"] },
        enrollment: { serverUrl: server.url, singleUse: true },
      },
    });
    const { device, enrollment } = made.body;
    expect(enrollment.expiresAt).toBe(new Date(server.clock.nowMs() + DAY).toISOString());
    const stored = JSON.stringify(await row(device.id));
    for (const secret of [enrollment.enrollmentKey, enrollment.enrollmentSecret]) {
      expect(secret).toMatch(/^[0-9a-f]{64}$/);
      expect(stored).not.toContain(secret);
    }
    const keys = (method: string, path: string, body?: object) =>
      server.request(method, `/enrollment-keys${path}`, { token: admin.token, body });
    expect((await keys("GET", `?orgId=${orgId}`)).body.data).toEqual([]);
    expect(await keys("GET", `/${device.id}`)).toMatchObject(refused(404, "NOT_FOUND"));
    expect(await keys("POST", `/${device.id}/rotate`, {})).toMatchObject(refused(404, "NOT_FOUND"));
    expect(await keys("DELETE", `/${device.id}`)).toMatchObject(refused(404, "NOT_FOUND"));

    const wrong = { enrollmentSecret: "0".repeat(64) };
    expect(await claim(made, wrong)).toMatchObject(refused(403, "ENROLLMENT_SECRET_INVALID"));
    expect((await row(device.id)).status).toBe("pending");
    const enrolled = await claim(made, { hostname: "TILL-01", deviceRole: "server", siteId: otherSiteId });
    expect(enrolled).toMatchObject({ status: 201, body: { deviceId: device.id, orgId, siteId } });
    const { agentId, agentToken } = enrolled.body;
    const beat = { token: agentToken, body: { status: "ok" } };
    expect((await server.request("POST", `/agents/${agentId}/heartbeat`, beat)).status).toBe(200);
    expect(await row(device.id)).toMatchObject({
      ...{ status: "online", hostname: "TILL-01", agentId, enrolledAt: server.clock.now() },
      ...{ displayName: "Till", deviceRole: "iot", deviceRoleSource: "manual", tags: ["till"] },
    });
    expect(await claim(made)).toMatchObject(refused(401, "ENROLLMENT_KEY_EXHAUSTED"));
    expect((await eventsOf(server.db, device.id)).map(({ kind }) => kind)).toEqual(["device.enrolled"]);
    const entries = await auditOf(server, ({ resourceId, result }) => resourceId === device.id && result === "success");
    expect(entries.map(({ action, details }) => [action, details["via"]])).toEqual([
      ["device.create", "provision"],
      ["agent.enroll", undefined],
    ]);
  });

  it("get a new key while they are awaited, and the old one is void; afterwards the name is taken", async () => {
    const first = await provision("till-2");
    const again = await provision("TILL-2", { osType: "linux", displayName: "Bar" });
    expect(again).toMatchObject({
      status: 200,
      body: { device: { id: first.body.device.id, hostname: "till-2", osType: "linux", displayName: "Bar" } },
    });
    expect(await claim(first)).toMatchObject(refused(401, "ENROLLMENT_KEY_NOT_FOUND"));
    expect((await claim(again)).body.deviceId).toBe(first.body.device.id);
    expect(await provision("till-2")).toMatchObject(refused(409, "HOSTNAME_TAKEN"));
    expect((await provision("till-2", { siteId: otherSiteId })).status).toBe(201);
    await remove(first.body.device.id);
    const next = await provision("till-2");
    expect(next.status).toBe(201);
    expect(next.body.device.id).not.toBe(first.body.device.id);
    const entries = await auditOf(server, ({ resourceId }) => resourceId === first.body.device.id);
    expect(entries.map(({ action }) => action)).toContain("device.update");
    expect(JSON.stringify(entries)).not.toContain(again.body.enrollment.enrollmentKey);
  });

  it("are made once when two ask at once, and by one key comes one machine (C02)", async () => {
    const both = await Promise.all([provision("till-3"), provision("till-3")]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 201]);
    expect(await named("till-3")).toHaveLength(1);
    const last = both.find(({ status }) => status === 200) as Made;
    const claims = await Promise.all([claim(last), claim(last), provision("till-3")]);
    const came = claims.slice(0, 2).filter(({ status }) => status === 201);
    // The third may come first, and void the key.
    expect(came).toHaveLength(claims[2]?.status === 200 ? 0 : 1);
    expect(await named("till-3")).toHaveLength(1);
  });

  it("are answered again by the idempotency key, and nothing that is stored opens the answer", async () => {
    const headers = { "x-idempotency-key": "provision-till-4" };
    const first = await provision("till-4", {}, admin.token, headers);
    const again = await provision("till-4", {}, admin.token, headers);
    expect([again.status, again.body, again.headers.get("idempotency-replayed")]).toEqual([201, first.body, "true"]);
    const kept = JSON.stringify(await server.db.selectFrom("idempotencyKeys").selectAll().execute());
    expect(kept).not.toContain(first.body.enrollment.enrollmentKey);
    const fresh = await provision("till-4", {}, admin.token, { "x-idempotency-key": "provision-till-4b" });
    expect(fresh.status).toBe(200);
    const replayed = await provision("till-4", {}, admin.token, { "x-idempotency-key": "provision-till-4b" });
    expect([replayed.status, replayed.body]).toEqual([200, fresh.body]);
    expect((await claim(replayed)).status).toBe(201);
  });

  it("repeat their enrollment with the nonce of the machine alone, though the key is used up", async () => {
    const made = await provision("till-5");
    const nonce = { enrollmentNonce: "5".repeat(64) };
    const first = await claim(made, nonce);
    const again = await claim(made, nonce);
    expect([again.status, again.body.deviceId]).toEqual([201, first.body.deviceId]);
    const other = await claim(made, { enrollmentNonce: "6".repeat(64) });
    expect(other).toMatchObject(refused(401, "ENROLLMENT_KEY_EXHAUSTED"));
  });

  it("are refused where the caller, the place or the tenant does not allow them, and leave nothing", async () => {
    const foreign = await makeSite(server, otherOrgId);
    const stranger = await server.signIn({ role: "Partner Admin", ...(await seedPartner(server, "rival")) });
    const one = (permissions: string[], more = {}) =>
      server.signIn({ role: "Custom", orgId, permissions, ...more }).then(({ token }) => token);
    const confined = await one(["devices:write"], { siteIds: [otherSiteId] });
    const code = (status: number, name: string) => refused(status, name);
    const setOrg = (change: object) => server.db.updateTable("organizations").set(change).where("id", "=", orgId);
    expect(await provision("no", { siteId: foreign })).toMatchObject(code(400, "SITE_NOT_IN_ORG"));
    expect(await provision("no", {}, stranger.token)).toMatchObject(code(403, "ORG_ACCESS_DENIED"));
    expect(await provision("no", {}, confined)).toMatchObject(code(403, "SITE_ACCESS_DENIED"));
    expect(await provision("no", {}, await one(["devices:read"]))).toMatchObject(code(403, "PERMISSION_DENIED"));
    expect(await provision("no", {}, await one(["devices:write"], { mfa: false }))).toMatchObject(
      code(403, "MFA_REQUIRED"),
    );
    await setOrg({ status: "suspended" }).execute();
    expect(await provision("no")).toMatchObject(code(403, "ORG_SUSPENDED"));
    await setOrg({ status: "archived" }).execute();
    expect(await provision("no")).toMatchObject(code(409, "ORG_READ_ONLY"));
    await setOrg({ status: "active" }).execute();
    expect(await named("no")).toEqual([]);
    expect((await provision("yes", { siteId: otherSiteId, orgId: undefined }, confined)).status).toBe(201);
  });

  it("count against the caps of organization and partner, also where the caller sees neither", async () => {
    const { partnerId: id, orgIds } = await seedPartner(server, "small", ["small", "smaller"]);
    const [org, next] = orgIds as [string, string];
    const places = [
      { orgId: org, siteId: await makeSite(server, org) },
      { orgId: next, siteId: await makeSite(server, next) },
    ];
    const { token } = await server.signIn({ role: "Org Admin", orgId: next });
    const partner = await server.signIn({ role: "Partner Admin", partnerId: id });
    await server.db.updateTable("partners").set({ maxDevices: 2 }).where("id", "=", id).execute();
    await server.db.updateTable("organizations").set({ maxDevices: 1 }).where("id", "=", org).execute();
    const made = await provision("capped", places[0], partner.token);
    expect(await provision("capped-2", places[0], partner.token)).toMatchObject({
      ...{ status: 403, body: { code: "DEVICE_LIMIT_REACHED", details: { current: 1, max: 1 } } },
    });
    expect((await provision("capped", places[0], partner.token)).status).toBe(200);
    const raced = await Promise.all([0, 1, 2].map((n) => provision(`raced-${n}`, places[1], token)));
    expect(raced.map(({ status }) => status).sort()).toEqual([201, 403, 403]);
    expect((await claim(raced.find(({ status }) => status === 201) as Made)).status).toBe(201);
    expect((await remove(made.body.device.id)).status).toBe(404);
  });

  it("are added while agents enroll at the same site under the same caps, and neither waits in a circle", async () => {
    const { partnerId: id, orgIds } = await seedPartner(server, "busy", ["busy"]);
    const org = orgIds[0] as string;
    const place = { orgId: org, siteId: await makeSite(server, org) };
    await server.db.updateTable("partners").set({ maxDevices: 1_000 }).where("id", "=", id).execute();
    const { token } = await server.signIn({ role: "Partner Admin", partnerId: id });
    const key = await makeKey(server, { ...place });
    const names = Array.from({ length: 12 }, (_, n) => `busy-${n}`);
    const answers = await Promise.all(
      names.flatMap((hostname) => [
        provision(hostname, place, token),
        enroll(server, key, { hostname: `${hostname}-agent` }),
      ]),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  });

  it("lose their key with its time, their place and their service (C01)", async () => {
    const going = await makeSite(server, orgId, "Going");
    const made = await provision("till-6", { siteId: going });
    const site = (method: string) => server.request(method, `/orgs/sites/${going}`, { token: admin.token });
    expect(await site("DELETE")).toMatchObject(refused(409, "SITE_NOT_EMPTY"));
    await remove(made.body.device.id);
    expect(await claim(made)).toMatchObject(refused(401, "ENROLLMENT_KEY_EXHAUSTED"));
    expect((await site("DELETE")).status).toBe(200);
    expect(await claim(made)).toMatchObject(refused(401, "ENROLLMENT_KEY_EXHAUSTED"));
    const closed = await provision("till-7");
    const setOrg = (status: "suspended" | "active") =>
      server.db.updateTable("organizations").set({ status }).where("id", "=", orgId).execute();
    await setOrg("suspended");
    expect(await claim(closed)).toMatchObject(refused(403, "TENANT_INACTIVE"));
    await setOrg("active");
    await later(DAY);
    expect(await claim(closed)).toMatchObject(refused(401, "ENROLLMENT_KEY_EXPIRED"));
    expect((await row(closed.body.device.id)).status).toBe("pending");
    await server.db
      .updateTable("organizations")
      .set({ settings: { enrollment: { maxTtlMinutes: 60 } } })
      .where("id", "=", orgId)
      .execute();
    const { enrollment } = (await provision("till-7")).body;
    expect(enrollment.expiresAt).toBe(new Date(server.clock.nowMs() + HOUR).toISOString());
  });

  it("do not let a quarantined machine back in under another row", async () => {
    const { body } = await enroll(server, await makeKey(server, { orgId }), { hostname: "infected" });
    const quarantined = { quarantined: true, quarantinedReason: "malware" };
    await server.request("PATCH", `/devices/${body.deviceId}`, { token: admin.token, body: quarantined });
    const made = await provision("clean");
    expect(await claim(made, { hostname: "INFECTED" })).toMatchObject(refused(403, "DEVICE_QUARANTINED"));
    expect((await claim(made)).status).toBe(201);
  });

  it("are given up 30 days after their last key has ended, unless they come or get a new one", async () => {
    const [gone, renewed, came] = await Promise.all(["late-1", "late-2", "late-3"].map((name) => provision(name)));
    await claim(came as Made);
    await later(30 * DAY);
    await provision("late-2");
    await giveUpAwaited(server.services);
    expect((await row(gone?.body.device.id)).status).toBe("pending");
    await later(DAY);
    expect(await giveUpAwaited(server.services)).toBeGreaterThan(0);
    const statuses = [gone, renewed, came].map(async (one) => (await row(one?.body.device.id)).status);
    expect(await Promise.all(statuses)).toEqual(["decommissioned", "pending", "online"]);
    expect(await giveUpAwaited(server.services)).toBe(0);
    const id = gone?.body.device.id as string;
    expect((await eventsOf(server.db, id)).map(({ kind }) => kind)).toEqual(["device.decommissioned"]);
    const entries = await auditOf(server, ({ action, resourceId }) => action === "device.delete" && resourceId === id);
    expect(entries).toMatchObject([
      { orgId, actorType: "system", details: { reason: "never_enrolled", siteIds: [siteId] } },
    ]);
    expect(schedules.map(({ name }) => name)).toContain("devices.give-up-awaited");
  });
});
