import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ElevationWorld, type TestAgent } from "../../../test/access-control/elevation-world.ts";
import { auditOf } from "../../../test/audit-of.ts";
import { databases, type SignedInUser } from "../../../test/harness.ts";
import { announceWaiting } from "./announce.ts";
import { expireStale, expireWindows } from "./sweep.ts";

const MINUTE = 60_000;

describe.each(databases)("requests for elevated rights on %s", (database) => {
  let world: ElevationWorld;
  let agent: TestAgent;

  beforeAll(async () => {
    world = await ElevationWorld.start(database);
    agent = await world.device();
  });
  afterAll(() => world?.stop());

  const list = async (query: string, as = world.admin) =>
    (await world.request("GET", `/pam/elevation-requests?${query}`, undefined, as)).body;
  const idsOf = ({ requests }: { requests: { id: string }[] }) => requests.map(({ id }) => id);

  it("nothing that was decided or has ended disappears (C29)", async () => {
    const device = await world.device();
    const { clock, services } = world.server;
    const began = clock.now();
    const of = (more: object = {}) => world.pending(device.deviceId, more);
    const ended = {
      approved: await of(),
      denied: await of(),
      revoked: await of(),
      expired: await of(),
      auto_approved: await of({
        ...{
          status: "auto_approved",
          approvedAt: clock.now(),
          expiresAt: new Date(clock.nowMs() + 15 * MINUTE).toISOString(),
        },
        ...{ decisionSource: "pam_rule", pamRuleName: "Printers", enforcementStatus: "active" },
      }),
    };
    await world.approve(ended.approved);
    await world.deny(ended.denied);
    await world.approve(ended.revoked);
    await world.revoke(ended.revoked);
    const active = await world.request("GET", "/pam/active");
    expect(active.body.active.map(({ id }: { id: string }) => id).toSorted()).toEqual(
      [ended.approved, ended.auto_approved].toSorted(),
    );
    clock.advance(61 * MINUTE);
    // A window that is over is not open, even before the sweep has ended it.
    const over = await world.request("GET", "/pam/active");
    expect([over.status, over.body.active]).toEqual([200, []]);
    expect((await list(`deviceId=${device.deviceId}&status=approved`)).pagination.total).toBe(1);
    await expireStale(services);
    await expireWindows(services);
    await expireStale(services);
    const after = await list(`deviceId=${device.deviceId}&from=${began}&limit=500`);
    expect(after.pagination).toEqual({ page: 1, limit: 100, total: 5 });
    expect(
      Object.fromEntries(after.requests.map(({ id, status }: { id: string; status: string }) => [id, status])),
    ).toEqual({
      ...{ [ended.approved]: "expired", [ended.auto_approved]: "expired", [ended.expired]: "expired" },
      ...{ [ended.denied]: "denied", [ended.revoked]: "revoked" },
    });
    const byId = (id: string) => after.requests.find((one: { id: string }) => one.id === id);
    expect(byId(ended.approved)).toMatchObject({ approvedByName: "Ada Admin", decisionSource: "human" });
    expect(byId(ended.auto_approved)).toMatchObject({ pamRuleName: "Printers", decisionSource: "pam_rule" });
    expect(byId(ended.revoked)).toMatchObject({ revokedByName: "Ada Admin", revokedReason: "done" });
    const query = `deviceId=${device.deviceId}`;
    expect(idsOf(await list(`${query}&status=denied`))).toEqual([ended.denied]);
    expect((await list(`${query}&flowType=tech_jit_admin`)).pagination.total).toBe(0);
    expect((await list(`${query}&from=${clock.now()}`)).pagination.total).toBe(0);
    expect((await list(`${query}&siteId=${world.siteId}`)).pagination.total).toBe(5);
    expect((await list(`${query}&siteId=${world.secondSiteId}`)).pagination.total).toBe(0);
    expect((await list(`${query}&to=${new Date(Date.parse(began) - 1).toISOString()}`)).pagination.total).toBe(0);
    const none = await world.request("GET", "/pam/active");
    expect(none.body.active).toEqual([]);
    const decisions = await auditOf(world.server, ({ resourceId }) => Object.values(ended).includes(resourceId ?? ""));
    expect(decisions.map(({ action }) => action).toSorted()).toEqual([
      "pam.elevation_request.approve",
      "pam.elevation_request.approve",
      "pam.elevation_request.deny",
      "pam.elevation_request.expired",
      "pam.elevation_request.expired",
      "pam.elevation_request.expired",
      "pam.elevation_request.revoke",
    ]);
  });

  it("come the newest first, and open ones the last approved first", async () => {
    const device = await world.device();
    const { clock } = world.server;
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      ids.push(await world.pending(device.deviceId));
      clock.advance(1_000);
    }
    const [first = "", second = "", third = ""] = ids;
    for (const id of [second, third, first]) {
      await world.approve(id);
      clock.advance(1_000);
    }
    expect(idsOf(await list(`deviceId=${device.deviceId}`))).toEqual([third, second, first]);
    const { active } = (await world.request("GET", "/pam/active")).body;
    const own = active.map(({ id }: { id: string }) => id).filter((id: string) => ids.includes(id));
    expect(own).toEqual([first, third, second]);
    for (const id of ids) await world.revoke(id);
  });

  it("who is confined to sites sees those of devices that stand there today", async () => {
    const id = await world.pending(agent.deviceId);
    const here = await world.person("Org Viewer", { siteIds: [world.siteId] });
    const there = await world.person("Org Viewer", { siteIds: [world.secondSiteId] });
    const query = `deviceId=${agent.deviceId}`;
    expect(idsOf(await list(query, here))).toEqual([id]);
    expect(idsOf(await list(query, there))).toEqual([]);
    expect((await world.show(id, there)).code).toBe("SITE_ACCESS_DENIED");
    const stranger = await world.server.signIn({ role: "Org Admin", orgId: world.otherOrgId });
    expect(idsOf(await list(query, stranger))).toEqual([]);
    expect((await world.show(id, stranger)).code).toBe("NOT_FOUND");
    expect((await list(`siteId=${world.siteId}`, stranger)).code).toBe("SITE_ACCESS_DENIED");
    await world.deny(id);
  });

  describe("of a technician", () => {
    let tech: SignedInUser;

    beforeAll(async () => {
      tech = await world.person("Org Technician", { name: "Tom Tech" });
    });

    it("wait for another person, whatever the rules say, and come one at a time", async () => {
      const { status, body } = await world.ask(agent.deviceId, { durationMinutes: 45 }, tech);
      expect([status, body.request]).toEqual([
        201,
        expect.objectContaining({
          ...{ status: "pending", flowType: "tech_jit_admin", subjectUsername: "", subjectUserId: tech.userId },
          ...{ requestedByName: "Tom Tech", requestedDurationMinutes: 45, riskTier: 3, reason: "Printer" },
        }),
      ]);
      const { id } = body.request;
      expect((await world.ask(agent.deviceId, {}, tech)).body).toMatchObject({
        ...{ code: "ALREADY_PENDING", details: { elevationRequestId: id } },
      });
      expect(await world.ledger(id)).toEqual(["requested"]);
      await world.approve(id);
      const { approvedAt, expiresAt } = await world.show(id);
      expect(Date.parse(expiresAt) - Date.parse(approvedAt)).toBe(45 * MINUTE);
      expect((await world.ask(agent.deviceId, {}, tech)).status).toBe(201);
    });

    it("are refused without a reason, with another flow, without the permission or MFA, and for a foreign device", async () => {
      const before = (await list("limit=1")).pagination.total;
      for (const more of [{ reason: "" }, { reason: undefined }, { flowType: "uac_intercept" }, { durationMinutes: 0 }])
        expect((await world.ask(agent.deviceId, more, tech)).status).toBe(400);
      expect((await world.ask(agent.deviceId, { subjectUsername: "a\u202eb" }, tech)).status).toBe(400);
      const viewer = await world.person("Org Viewer");
      expect((await world.ask(agent.deviceId, {}, viewer)).body.code).toBe("PERMISSION_DENIED");
      const weak = await world.person("Org Technician", { mfa: false });
      expect((await world.ask(agent.deviceId, {}, weak)).body.code).toBe("MFA_REQUIRED");
      const stranger = await world.server.signIn({ role: "Org Admin", orgId: world.otherOrgId });
      expect((await world.ask(agent.deviceId, {}, stranger)).status).toBe(404);
      expect((await list("limit=1")).pagination.total).toBe(before);
    });
  });

  it("approvers at the site are told once a minute and device, and need not look once it is decided", async () => {
    const device = await world.device();
    const near = await world.person("Security Approver", { siteIds: [world.siteId] });
    const far = await world.person("Security Approver", { siteIds: [world.secondSiteId] });
    const notices = async (who: SignedInUser, unread = "") =>
      (await world.request("GET", `/notifications${unread}`, undefined, who)).body.data.filter(
        ({ metadata }: { metadata: { deviceId?: string } }) => metadata.deviceId === device.deviceId,
      );
    const asking = async () => world.ask(device.deviceId, {}, await world.person("Org Technician"));
    const first = (await asking()).body.request.id;
    await asking();
    await asking();
    expect(await notices(near)).toMatchObject([{ priority: "high", metadata: { elevationRequestId: first, more: 0 } }]);
    expect(await notices(far)).toEqual([]);
    await announceWaiting(world.server.services);
    expect(await notices(near)).toHaveLength(1);
    world.server.clock.advance(61_000);
    await announceWaiting(world.server.services);
    expect(await notices(near)).toMatchObject([{ metadata: { more: 1 } }, { metadata: { more: 0 } }]);
    await world.deny(first);
    expect(await notices(near, "?unreadOnly=true")).toHaveLength(1);
  });

  it("says until when a request waits, and of others that they do not", async () => {
    const { clock } = world.server;
    const id = await world.pending(agent.deviceId);
    const until = new Date(clock.nowMs() + 60 * MINUTE).toISOString();
    expect((await world.show(id)).waitsUntil).toBe(until);
    const { requests } = await list(`deviceId=${agent.deviceId}&status=pending`);
    expect(requests.find((one: { id: string }) => one.id === id).waitsUntil).toBe(until);
    await world.deny(id);
    expect((await world.show(id)).waitsUntil).toBeNull();
  });

  it("a device of which nobody can be told holds up no notice of another", async () => {
    await announceWaiting(world.server.services);
    const devices = await Promise.all([world.device(), world.device(), world.device()]);
    for (const { deviceId } of devices) await world.pending(deviceId, { announcedAt: null });
    const { services } = world.server;
    let asked = 0;
    const now = () => {
      asked += 1;
      if (asked === 1) throw new Error("no clock");
      return services.clock.now();
    };
    const failing = { ...services, clock: { ...services.clock, now, nowMs: () => services.clock.nowMs() } };
    await expect(announceWaiting(failing)).rejects.toThrow("1 of 3 failed: Error: no clock");
    const untold = async () => {
      const rows = world.server.db.selectFrom("elevationRequests").select("deviceId").where("announcedAt", "is", null);
      const ids = (await rows.execute()).map(({ deviceId }) => deviceId);
      return devices.filter(({ deviceId }) => ids.includes(deviceId)).length;
    };
    expect(await untold()).toBe(1);
    await announceWaiting(services);
    expect(await untold()).toBe(0);
  });

  it("one request that cannot be ended holds up no end of another", async () => {
    const { services, clock } = world.server;
    clock.advance(61 * MINUTE);
    await expireStale(services);
    const device = await world.device();
    const ids = [await world.pending(device.deviceId), await world.pending(device.deviceId)];
    clock.advance(61 * MINUTE);
    let asked = 0;
    const uuid = () => {
      asked += 1;
      if (asked === 1) throw new Error("no numbers");
      return services.random.uuid();
    };
    const failing = { ...services, random: { ...services.random, uuid } };
    await expect(expireStale(failing as typeof services)).rejects.toThrow("no numbers");
    const waiting = async () => {
      const shown = await Promise.all(ids.map((id) => world.show(id)));
      return shown.filter(({ status }) => status === "pending").length;
    };
    expect(await waiting()).toBe(1);
    await expireStale(services);
    expect(await waiting()).toBe(0);
  });

  it("what is decided on, a final status and the ledger are kept by the database itself", async () => {
    const id = await world.pending(agent.deviceId);
    await world.deny(id);
    const { db } = world.server;
    const row = db.updateTable("elevationRequests").where("id", "=", id);
    for (const change of [
      { status: "approved" },
      { status: "pending" },
      { commandLine: "x" },
      { subjectUsername: "x" },
    ])
      await expect(row.set(change as never).execute()).rejects.toThrow(/kept as it is/);
    await expect(db.deleteFrom("elevationRequests").where("id", "=", id).execute()).rejects.toThrow(/kept as it is/);
    const lines = db.updateTable("elevationAudit").where("elevationRequestId", "=", id);
    await expect(lines.set({ facts: {} } as never).execute()).rejects.toThrow(/kept as it is/);
    await expect(db.deleteFrom("elevationAudit").execute()).rejects.toThrow(/kept as it is/);
  });
});
