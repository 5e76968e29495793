import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Authenticator } from "#fixtures/simulators/authenticator";
import { rescueAccount } from "#server/features/sign-in/passwords/rescue";
import {
  type Approver,
  approverWith,
  beginRegistering,
  challenge,
  finishRegistering,
  PUBLIC_URL,
  proofFor,
  register,
} from "../../../test/access-control/approvers.ts";
import { ElevationWorld, type TestAgent } from "../../../test/access-control/elevation-world.ts";
import { auditOf } from "../../../test/audit-of.ts";
import { databases } from "../../../test/harness.ts";
import { enrol, freshCode, PASSWORD } from "../../../test/people.ts";

const HIGH = 3;

describe.each(databases)("approver devices end on %s", (database) => {
  let world: ElevationWorld;
  let agent: TestAgent;

  beforeAll(async () => {
    world = await ElevationWorld.start(database, { PUBLIC_URL });
    agent = await world.device();
  });
  afterAll(() => world?.stop());

  const pending = () => world.pending(agent.deviceId, { riskTier: HIGH });
  const rowsOf = (userId: string) =>
    world.server.db.selectFrom("approverDevices").selectAll().where("userId", "=", userId).execute();
  const waiting = async (userId: string) => {
    const { db } = world.server;
    const [registrations, assertions] = await Promise.all([
      db.selectFrom("approverRegistrations").select("userId").where("userId", "=", userId).execute(),
      db.selectFrom("assertionChallenges").select("userId").where("userId", "=", userId).execute(),
    ]);
    return registrations.length + assertions.length;
  };
  const remove = ({ deviceId, who }: Approver) =>
    world.request("DELETE", `/authenticator/devices/${deviceId}`, { currentPassword: PASSWORD }, who);

  /** A person with two devices, a challenge and a registration that wait. */
  async function busy(): Promise<Approver> {
    const approver = await approverWith(world);
    await register(world, approver.who);
    await challenge(world, await pending(), approver.who);
    await beginRegistering(world, approver.who);
    expect(await waiting(approver.who.userId)).toBe(2);
    return approver;
  }

  async function allEnded({ who }: Approver): Promise<void> {
    const rows = await rowsOf(who.userId);
    expect(rows.map(({ disabledAt }) => disabledAt !== null)).toEqual([true, true]);
    expect(await waiting(who.userId)).toBe(0);
  }

  it("when they are removed: what was signed and not yet sent counts no more, and what waits for a signature dies", async () => {
    const approver = await busy();
    const id = await pending();
    const proof = await proofFor(world, id, approver);
    expect((await remove(approver)).body).toEqual({ success: true });
    expect(await waiting(approver.who.userId)).toBe(0);
    expect((await world.approve(id, { proof }, approver.who)).body.code).toBe("ASSERTION_FAILED");
    expect(await world.show(id)).toMatchObject({ status: "pending" });
    expect((await remove(approver)).status).toBe(404);
    const [entry] = await auditOf(
      world.server,
      ({ action, resourceId }) => action.endsWith("device.revoke") && resourceId === approver.deviceId,
    );
    expect(entry).toMatchObject({ orgId: world.orgId, actorId: approver.who.userId, resourceName: "laptop" });
  });

  it("when the second factor is turned off", async () => {
    const approver = await busy();
    const { secret, token } = await enrol(world.server, approver.who.token);
    const body = { code: freshCode(world.server, secret), currentPassword: PASSWORD };
    expect((await world.request("POST", "/auth/mfa/disable", body, { ...approver.who, token })).status).toBe(200);
    await allEnded(approver);
  });

  it("when the account is rescued without its factor", async () => {
    const approver = await busy();
    await rescueAccount(world.server.services, { email: approver.who.email, clearMfa: true });
    await allEnded(approver);
  });

  it("when the address is proven for the first time", async () => {
    const approver = await busy();
    const { server } = world;
    const { email, userId } = approver.who;
    await server.db.updateTable("users").set({ emailVerifiedAt: null }).where("id", "=", userId).execute();
    await server.request("POST", "/auth/forgot-password", { body: { email } });
    await server.workJobs();
    const [token] = server.mails.flatMap(({ to, text }) =>
      to === email ? (/token=([\w-]+)/.exec(text)?.[1] ?? []) : [],
    );
    const reset = await server.request("POST", "/auth/reset-password", { body: { token, password: "Other-Horse-8" } });
    expect(reset.status).toBe(200);
    await allEnded(approver);
  });

  it("when the account is closed", async () => {
    const approver = await busy();
    const { body } = await world.request("GET", "/users/me/memberships", undefined, approver.who);
    const [{ id }] = body.data;
    const left = await world.request("DELETE", `/users/me/memberships/${id}`, undefined, approver.who);
    expect(left.status).toBe(200);
    await allEnded(approver);
  });

  it("and never count again: the database itself refuses it, and to exchange a key", async () => {
    const approver = await approverWith(world);
    const { db } = world.server;
    const change = (set: object) =>
      db
        .updateTable("approverDevices")
        .set(set as never)
        .where("id", "=", approver.deviceId)
        .execute();
    await expect(change({ publicKey: "other" })).rejects.toThrow(/keeps its key/);
    await expect(change({ userId: world.admin.userId })).rejects.toThrow(/keeps its key/);
    await remove(approver);
    for (const disabledAt of [null, world.server.clock.now()])
      await expect(change({ disabledAt })).rejects.toThrow(/once disabled it stays so/);
    const [row] = await rowsOf(approver.who.userId);
    expect(row?.disabledAt).not.toBeNull();
  });

  describe("and races", () => {
    it.each([1, 2, 3])("of attempts with one challenge one decides (%i)", async () => {
      const approver = await approverWith(world);
      const id = await pending();
      const proof = await proofFor(world, id, approver);
      const answers = await Promise.all([1, 2, 3, 4].map(() => world.approve(id, { proof }, approver.who)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      for (const { status, body } of answers)
        if (status !== 200) expect(["ASSERTION_FAILED", "INVALID_STATE"]).toContain(body.code);
      expect(await world.ledger(id)).toEqual(["approved"]);
    });

    it.each([1, 2, 3])(
      "a wrong attempt and a right one with one challenge: whichever comes second is refused (%i)",
      async () => {
        const approver = await approverWith(world);
        const id = await pending();
        const proof = await proofFor(world, id, approver);
        const wrong = { ...proof, signature: "YQ" };
        const [bad, good] = await Promise.all([
          world.approve(id, { proof: wrong }, approver.who),
          world.approve(id, { proof }, approver.who),
        ]);
        expect(bad.body.code).toMatch(/ASSERTION_FAILED|INVALID_STATE/);
        expect([200, 401]).toContain(good.status);
        expect((await world.show(id)).status).toBe(good.status === 200 ? "approved" : "pending");
      },
    );

    it.each([1, 2, 3])(
      "a removal and an approval: what is approved after it was not proven by the device (%i)",
      async () => {
        const approver = await approverWith(world);
        const id = await pending();
        const proof = await proofFor(world, id, approver);
        const [removed, approved] = await Promise.all([remove(approver), world.approve(id, { proof }, approver.who)]);
        expect(removed.status).toBe(200);
        expect([200, 401]).toContain(approved.status);
        const { status, decidedVia } = await world.show(id);
        expect([status, decidedVia]).toEqual(
          approved.status === 200 ? ["approved", "webauthn_platform"] : ["pending", null],
        );
      },
    );

    it.each([1, 2, 3])(
      "turning the factor off and a registration: nothing that was registered survives it (%i)",
      async () => {
        const approver = await approverWith(world);
        const { secret, token } = await enrol(world.server, approver.who.token);
        const who = { ...approver.who, token };
        const { body: begun } = await beginRegistering(world, who);
        const code = freshCode(world.server, secret);
        const response = new Authenticator().create(begun.options, { origin: PUBLIC_URL });
        const [off] = await Promise.all([
          world.request("POST", "/auth/mfa/disable", { code, currentPassword: PASSWORD }, who),
          finishRegistering(world, who, response),
        ]);
        expect(off.status).toBe(200);
        expect((await rowsOf(who.userId)).filter(({ disabledAt }) => disabledAt === null)).toEqual([]);
      },
    );
  });

  it("no connection of a tenant reads a device or a challenge, or changes what a partner demands", async () => {
    const approver = await busy();
    const { server, partnerId } = world;
    const now = server.clock.now();
    const policy = {
      partnerId,
      floorOverrides: { low: 4 },
      requireEnrollment: true,
      enforceFrom: null,
      updatedAt: now,
    };
    await server.db.insertInto("authenticatorPolicies").values(policy).execute();
    if (server.services.store.dialect !== "postgres") return;
    const stolen = server.services.store.connection(`partner:${partnerId}`);
    const query = async (statement: string) => (await sql.raw(statement).execute(stolen)).rows;
    for (const table of ["approver_devices", "approver_registrations", "assertion_challenges"]) {
      expect(await query(`select * from ${table}`)).toEqual([]);
      expect(await query(`delete from ${table} returning user_id`)).toEqual([]);
    }
    expect(await query("select require_enrollment from authenticator_policies")).toEqual([{ requireEnrollment: true }]);
    for (const statement of [
      "update authenticator_policies set require_enrollment = false returning partner_id",
      "delete from authenticator_policies returning partner_id",
    ])
      expect(await query(statement)).toEqual([]);
    expect(await rowsOf(approver.who.userId)).toHaveLength(2);
    const stored = await sql<{
      n: number;
    }>`select count(*) as n from authenticator_policies where require_enrollment`.execute(server.db);
    expect(Number(stored.rows[0]?.n)).toBe(1);
  });
});
