import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ElevationWorld, type TestAgent } from "../../../test/access-control/elevation-world.ts";
import { auditOf } from "../../../test/audit-of.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { guestOf } from "../../../test/guest.ts";
import { databases, type SignedInUser } from "../../../test/harness.ts";
import { enrol, freshCode, PASSWORD, seedPerson } from "../../../test/people.ts";

const MINUTE = 60_000;

describe.each(databases)("deciding requests for elevated rights on %s", (database) => {
  let world: ElevationWorld;
  let agent: TestAgent;

  beforeAll(async () => {
    world = await ElevationWorld.start(database);
    agent = await world.device();
  });
  afterAll(() => world?.stop());

  const unchanged = async (id: string) => {
    expect(await world.show(id)).toMatchObject({ status: "pending", approvedByName: null, expiresAt: null });
    expect(await world.ledger(id)).toEqual([]);
  };

  it("an approval opens a window from the decision on, once, and is told with exactly the fields of an event", async () => {
    const id = await world.pending(agent.deviceId);
    world.server.clock.advance(10 * MINUTE);
    const now = world.server.clock.nowMs();
    const { status, body } = await world.approve(id, { durationMinutes: 30, reason: "known tool" });
    expect([status, body]).toEqual([
      200,
      { success: true, id, status: "approved", enforcementStatus: "pending_dispatch" },
    ]);
    const expiresAt = new Date(now + 30 * MINUTE).toISOString();
    expect(await world.show(id)).toMatchObject({
      ...{ status: "approved", approvedByName: "Ada Admin", decisionSource: "human", expiresAt },
      ...{ approvedAt: new Date(now).toISOString(), decidedAssuranceLevel: 1, decidedVia: "session_tap" },
      events: [{ event: "approved", actorType: "user", actorName: "Ada Admin", details: { graceDowngrade: true } }],
    });
    const told = await eventsOf(world.server.db, id);
    expect(told).toEqual([
      {
        kind: "elevation.approved",
        ...{ orgId: world.orgId, partnerId: null, siteId: world.siteId, subjectType: "elevationRequest" },
        data: {
          ...{ elevationRequestId: id, deviceId: agent.deviceId, deviceHostname: "reception-pc", toolName: null },
          ...{ flowType: "uac_intercept", status: "approved", subjectUsername: "CONTOSO\\jana", riskTier: null },
          ...{ decisionSource: "human", expiresAt },
        },
      },
    ]);
    for (const again of [world.approve(id), world.deny(id)])
      expect(await again).toMatchObject({
        status: 409,
        body: { code: "INVALID_STATE", details: { status: "approved" } },
      });
    const entries = await auditOf(world.server, (entry) => entry.resourceId === id && entry.result === "success");
    expect(entries.map(({ action }) => action)).toEqual(["pam.elevation_request.approve"]);
  });

  it("a denial says why, and is never decided again", async () => {
    const id = await world.pending(agent.deviceId);
    expect((await world.deny(id, { reason: "unknown" })).body).toMatchObject({
      status: "denied",
      enforcementStatus: "none",
    });
    expect(await world.show(id)).toMatchObject({
      status: "denied",
      deniedByName: "Ada Admin",
      denialReason: "unknown",
    });
    expect((await world.approve(id)).status).toBe(409);
    expect((await world.revoke(id)).body).toMatchObject({ code: "INVALID_STATE", details: { status: "denied" } });
    expect(await world.ledger(id)).toEqual(["denied"]);
  });

  it("nobody approves for themselves, by account or by name, and may deny", async () => {
    const jana = await world.person("Org Admin", { email: "jana@contoso.example" });
    for (const more of [
      { subjectUserId: jana.userId, subjectUsername: "x" },
      { subjectUsername: "CONTOSO\\JANA" },
      { subjectUsername: "jana@elsewhere.example" },
      { subjectUsername: "jana@contoso.example" },
    ]) {
      const id = await world.pending(agent.deviceId, { ...more, flowType: "uac_intercept" });
      expect((await world.approve(id, {}, jana)).body.code).toBe("SELF_APPROVAL");
      await unchanged(id);
      expect((await world.deny(id, {}, jana)).status).toBe(200);
    }
  });

  it("an assertion that nobody can verify is refused, not read as none", async () => {
    const id = await world.pending(agent.deviceId);
    const proof = { credentialId: "YQ", authenticatorData: "YQ", clientDataJSON: "YQ", signature: "YQ" };
    expect((await world.approve(id, { proof })).body.code).toBe("ASSERTION_FAILED");
    await unchanged(id);
    expect((await world.deny(id, { proof })).status).toBe(200);
  });

  it("needs the permission, MFA, and a device at a site of the caller", async () => {
    const id = await world.pending(agent.deviceId);
    const elsewhere = await world.person("Org Admin", { siteIds: [world.secondSiteId] });
    const stranger = await world.server.signIn({ role: "Org Admin", orgId: world.otherOrgId });
    const asked: [SignedInUser, number, string][] = [
      [await world.person("Org Technician"), 403, "PERMISSION_DENIED"],
      [await world.person("Org Admin", { mfa: false }), 403, "MFA_REQUIRED"],
      [elsewhere, 403, "SITE_ACCESS_DENIED"],
      [stranger, 404, "NOT_FOUND"],
    ];
    for (const [who, status, code] of asked)
      for (const one of [world.approve(id, {}, who), world.deny(id, {}, who), world.revoke(id, "x", who)])
        expect(await one).toMatchObject({ status, body: { code } });
    await unchanged(id);
    // The device's site of today counts.
    await world.request("PATCH", `/devices/${agent.deviceId}`, { siteId: world.secondSiteId });
    expect((await world.approve(id, {}, elsewhere)).status).toBe(200);
    await world.request("PATCH", `/devices/${agent.deviceId}`, { siteId: world.siteId });
  });

  it("one that is older than it may be ends then, and the end stays", async () => {
    for (const decision of ["approve", "deny"] as const) {
      const id = await world.pending(agent.deviceId);
      world.server.clock.advance(60 * MINUTE);
      expect(await world[decision](id)).toMatchObject({ status: 409, body: { details: { status: "expired" } } });
      expect(await world.show(id)).toMatchObject({
        status: "expired",
        events: [{ event: "expired", details: { cause: "stale" } }],
      });
      expect((await eventsOf(world.server.db, id)).map(({ kind }) => kind)).toEqual(["elevation.expired"]);
    }
  });

  it("durations are 1 to 1440 minutes and nothing else", async () => {
    const id = await world.pending(agent.deviceId);
    for (const durationMinutes of [0, 1_441, 1.5, -1, "15", null])
      expect((await world.approve(id, { durationMinutes })).status).toBe(400);
    for (const decision of ["maybe", null, undefined]) expect((await world.respond(id, { decision })).status).toBe(400);
    expect((await world.deny(id, { reason: "x".repeat(2_001) })).status).toBe(400);
    await unchanged(id);
  });

  it("a field that is misspelled is refused, not taken for one that was left out", async () => {
    const id = await world.pending(agent.deviceId);
    const path = `/pam/elevation-requests/${id}`;
    const { deviceId } = agent;
    for (const one of [
      world.approve(id, { durationMinute: 5 }),
      world.deny(id, { message: "no" }),
      world.request("POST", `${path}/revoke`, { reason: "done", at: "once" }),
      world.request("POST", `/devices/${deviceId}/actuate-elevation`, { elevationRequestId: id, timeout: 1_000 }),
      world.ask(deviceId, { duration: 5 }),
    ])
      expect(await one).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
    await unchanged(id);
  });

  describe("at the highest risk", () => {
    let boss: SignedInUser;
    const critical = () => world.pending(agent.deviceId, { riskTier: 4 });

    beforeAll(async () => {
      boss = await seedPerson(world.server, { role: "Org Admin", orgId: world.orgId });
    });

    it("takes the own password; a wrong one, none, or a code instead changes nothing", async () => {
      const id = await critical();
      for (const given of [{}, { reauthMfaCode: "123456" }, { reauthPassword: "Wrong-Horse-7" }]) {
        const { status, body } = await world.approve(id, given, boss);
        expect([status, body.code]).toEqual([401, "reauth_required"]);
      }
      await unchanged(id);
      expect((await world.approve(id, { reauthPassword: PASSWORD }, boss)).status).toBe(200);
      expect(JSON.stringify(await world.show(id))).not.toContain(PASSWORD);
      expect(await world.show(id)).toMatchObject({ events: [{ details: { reauthenticated: true } }] });
    });

    it("takes a session of one's own account, whatever else is proven; a denial does not", async () => {
      const guest = await guestOf(world, await seedPerson(world.server, { role: "Org Admin", orgId: world.orgId }));
      const id = await critical();
      for (const proof of [{ reauthPassword: PASSWORD }, { reauthPassword: "Wrong-Horse-7" }, {}])
        expect(await world.approve(id, proof, guest)).toMatchObject({
          status: 403,
          body: { code: "HOME_SESSION_REQUIRED" },
        });
      await unchanged(id);
      expect((await world.approve(await world.pending(agent.deviceId), {}, guest)).status).toBe(200);
      expect((await world.deny(id, {}, guest)).status).toBe(200);
    });

    it("a denial takes none of that", async () => {
      expect((await world.deny(await critical(), {}, boss)).status).toBe(200);
    });

    it("who has no password gives a code of the app, which counts once; a recovery code is none", async () => {
      const person = await seedPerson(world.server, { role: "Org Admin", orgId: world.orgId });
      const { secret, token, recoveryCodes } = await enrol(world.server, person.token);
      const mia = { ...person, token };
      const wrong = await critical();
      // With a password, only that counts.
      const early = await world.approve(wrong, { reauthMfaCode: freshCode(world.server, secret) }, mia);
      expect(early.body.code).toBe("reauth_required");
      await world.server.db.updateTable("users").set({ passwordHash: null }).where("id", "=", mia.userId).execute();
      const other = await critical();
      expect((await world.approve(other, { reauthPassword: PASSWORD }, mia)).status).toBe(401);
      expect((await world.approve(other, { reauthMfaCode: recoveryCodes[0] }, mia)).status).toBe(401);
      const code = freshCode(world.server, secret);
      expect((await world.approve(other, { reauthMfaCode: code }, mia)).status).toBe(200);
      expect((await world.approve(await critical(), { reauthMfaCode: code }, mia)).status).toBe(401);
    });

    it("five failures are the end for a while, whatever comes then, and lock no account", async () => {
      const eve = await seedPerson(world.server, { role: "Org Admin", orgId: world.orgId });
      const id = await critical();
      for (let tries = 0; tries < 5; tries += 1)
        expect((await world.approve(id, { reauthPassword: "Wrong-Horse-7" }, eve)).status).toBe(401);
      expect((await world.approve(id, { reauthPassword: PASSWORD }, eve)).status).toBe(429);
      const user = await world.server.db
        .selectFrom("users")
        .select(["failedLogins", "lockedUntil"])
        .where("id", "=", eve.userId)
        .executeTakeFirstOrThrow();
      expect(user).toEqual({ failedLogins: 0, lockedUntil: null });
      expect((await world.deny(id, {}, eve)).status).toBe(200);
    });

    it("a device that becomes a server meanwhile, or was one today, asks for the proof too", async () => {
      const server = await world.device({ deviceRole: "server" });
      const tech = await world.person("Org Technician");
      const asked = await world.ask(server.deviceId, {}, tech);
      expect(asked.body.request.riskTier).toBe(4);
      const role = (deviceRole: string) => world.request("PATCH", `/devices/${server.deviceId}`, { deviceRole });
      await role("workstation");
      const later = await world.ask(server.deviceId, {}, await world.person("Org Technician"));
      expect(later.body.request.riskTier).toBe(4);
      world.server.clock.advance(24 * 60 * MINUTE);
      const third = await world.ask(server.deviceId, {}, await world.person("Org Technician"));
      expect(third.body.request.riskTier).toBe(3);
      await role("server");
      const { id } = third.body.request;
      expect((await world.approve(id, {}, boss)).body.code).toBe("reauth_required");
      expect((await world.approve(id, { reauthPassword: PASSWORD }, boss)).status).toBe(200);
      expect(await world.show(id)).toMatchObject({ riskTier: 4 });
    });

    it("a device that had the edition of a server today counts as one too", async () => {
      const { deviceId } = await world.device();
      const { db, clock } = world.server;
      const report = (osVersion: string) =>
        db.updateTable("devices").set({ osVersion, updatedAt: clock.now() }).where("id", "=", deviceId).execute();
      await report("Microsoft Windows Server 2022 Standard");
      await report("Microsoft Windows 11 Pro");
      const askedTier = async () =>
        (await world.ask(deviceId, {}, await world.person("Org Technician"))).body.request.riskTier;
      expect(await askedTier()).toBe(4);
      clock.advance(24 * 60 * MINUTE);
      expect(await askedTier()).toBe(3);
    });
  });

  describe("where the organization is not in use", () => {
    it("and where the partner is not active either", async () => {
      const partner = world.server.db.updateTable("partners").where("id", "=", world.partnerId);
      const [one, other] = [await world.pending(agent.deviceId), await world.pending(agent.deviceId)];
      await world.approve(other);
      await partner.set({ status: "suspended" }).execute();
      try {
        expect((await world.approve(one)).body.code).toBe("PARTNER_INACTIVE");
        expect((await world.deny(one)).status).toBe(200);
        expect((await world.revoke(other)).status).toBe(200);
        expect((await world.ask(agent.deviceId)).body.code).toBe("PARTNER_INACTIVE");
      } finally {
        await partner.set({ status: "active" }).execute();
      }
    });

    const inStatus = async (status: string, work: (id: string) => Promise<void>) => {
      const id = await world.pending(agent.deviceId);
      const org = world.server.db.updateTable("organizations").where("id", "=", world.orgId);
      await org.set({ status: status as "active" }).execute();
      await work(id).finally(() => org.set({ status: "active" }).execute());
    };

    it.each([
      ["suspended", "ORG_SUSPENDED"],
      ["offboarding", "ORG_READ_ONLY"],
      ["churned", "ORG_READ_ONLY"],
    ])("%s: an approval is refused, a denial works", async (status, code) => {
      await inStatus(status, async (id) => {
        expect((await world.approve(id)).body.code).toBe(code);
        expect((await world.deny(id)).status).toBe(200);
      });
    });
  });
});
