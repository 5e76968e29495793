import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type Approver,
  approverWith,
  approverWithout,
  PUBLIC_URL,
  proofFor,
} from "../../../test/access-control/approvers.ts";
import { ElevationWorld, type TestAgent } from "../../../test/access-control/elevation-world.ts";
import { databases, type SignedInUser, seedPartner } from "../../../test/harness.ts";
import { PASSWORD } from "../../../test/people.ts";

const [LOW, MEDIUM, HIGH, CRITICAL] = [1, 2, 3, 4];
type Floors = Partial<Record<"low" | "medium" | "high" | "critical", number>>;

describe.each(databases)("what an approval must prove on %s", (database) => {
  let world: ElevationWorld;
  let agent: TestAgent;
  let bound: Approver;
  let copied: Approver;
  let plain: SignedInUser;

  beforeAll(async () => {
    world = await ElevationWorld.start(database, { PUBLIC_URL });
    agent = await world.device();
    bound = await approverWith(world);
    copied = await approverWith(world, { backupEligible: true });
    plain = await approverWithout(world);
  });
  afterAll(() => world?.stop());
  beforeEach(async () => {
    world.server.clock.advance(61_000);
    await world.server.db.deleteFrom("authenticatorPolicies").execute();
  });

  const demand = (floorOverrides: Floors = {}, more: { requireEnrollment?: boolean; enforceFrom?: string } = {}) =>
    world.server.db
      .insertInto("authenticatorPolicies")
      .values({
        ...{ partnerId: world.partnerId, floorOverrides, requireEnrollment: true, enforceFrom: null },
        ...{ updatedAt: world.server.clock.now(), ...more },
      })
      .execute();
  const pending = (riskTier: number | undefined) => world.pending(agent.deviceId, { riskTier: riskTier ?? null });

  /** Refused with these levels, and nothing is decided. */
  async function refuses(
    id: string,
    body: object,
    who: SignedInUser,
    [requiredLevel, achievedLevel]: [number, number],
  ) {
    expect(await world.approve(id, body, who)).toMatchObject({
      status: 403,
      body: { code: "STEP_UP_REQUIRED", details: { requiredLevel, achievedLevel } },
    });
    expect(await world.show(id)).toMatchObject({ status: "pending", approvedByName: null });
    expect(await world.ledger(id)).toEqual([]);
  }

  async function approves(id: string, body: object, who: SignedInUser) {
    expect(await world.approve(id, body, who)).toMatchObject({ status: 200, body: { status: "approved" } });
    const { decidedAssuranceLevel: level, events } = await world.show(id);
    return { level, grace: events[0].details.graceDowngrade ?? false };
  }

  it("without a policy, who has no device approves every tier, and below its level that is in the ledger", async () => {
    expect(await approves(await pending(LOW), {}, plain)).toEqual({ level: 1, grace: false });
    for (const tier of [undefined, 0, MEDIUM, HIGH])
      expect(await approves(await pending(tier), {}, plain)).toEqual({ level: 1, grace: true });
    const proof = { reauthPassword: PASSWORD };
    expect(await approves(await pending(CRITICAL), proof, plain)).toEqual({ level: 1, grace: true });
  });

  it("whoever has a device signs at the high and the critical tier, whatever the policy", async () => {
    for (const [tier, level] of [
      [HIGH, 3],
      [CRITICAL, 4],
    ] as const)
      await refuses(await pending(tier), { reauthPassword: PASSWORD }, bound.who, [level, 1]);
    expect(await approves(await pending(MEDIUM), {}, bound.who)).toEqual({ level: 1, grace: true });
  });

  it("a device whose key stays on its machine and the password reach level 4, one that is copied level 3", async () => {
    const [one, other] = [await pending(CRITICAL), await pending(CRITICAL)];
    const reauthPassword = PASSWORD;
    const proof = await proofFor(world, one, bound);
    expect(await approves(one, { proof, reauthPassword }, bound.who)).toEqual({ level: 4, grace: false });
    const copy = await proofFor(world, other, copied);
    expect(await approves(other, { proof: copy, reauthPassword }, copied.who)).toEqual({ level: 3, grace: true });
  });

  it("a proof is no password: a critical approval takes both", async () => {
    const id = await pending(CRITICAL);
    const proof = await proofFor(world, id, bound);
    expect((await world.approve(id, { proof }, bound.who)).body.code).toBe("reauth_required");
    expect(await world.show(id)).toMatchObject({ status: "pending" });
  });

  it("a partner that demands refuses what is below the level", async () => {
    await demand();
    expect(await approves(await pending(LOW), {}, plain)).toEqual({ level: 1, grace: false });
    await refuses(await pending(undefined), {}, plain, [2, 1]);
    await refuses(await pending(MEDIUM), {}, bound.who, [2, 1]);
    await refuses(await pending(HIGH), {}, plain, [3, 1]);
    await refuses(await pending(CRITICAL), { reauthPassword: PASSWORD }, plain, [4, 1]);
    const medium = await pending(MEDIUM);
    const proof = await proofFor(world, medium, copied);
    expect(await approves(medium, { proof }, copied.who)).toEqual({ level: 3, grace: false });
    const critical = await pending(CRITICAL);
    const copy = await proofFor(world, critical, copied);
    await refuses(critical, { proof: copy, reauthPassword: PASSWORD }, copied.who, [4, 3]);
    expect((await world.deny(critical, {}, plain)).status).toBe(200);
  });

  it("floors lift the level of a tier; one of 4 takes the password there too", async () => {
    await demand({ low: 3, medium: 4 });
    await refuses(await pending(LOW), {}, plain, [3, 1]);
    const id = await pending(MEDIUM);
    await refuses(id, { proof: await proofFor(world, id, bound) }, bound.who, [4, 3]);
    const wrong = { proof: await proofFor(world, id, bound), reauthPassword: "Wrong-Horse-7" };
    expect((await world.approve(id, wrong, bound.who)).body.code).toBe("reauth_required");
    const right = { proof: await proofFor(world, id, bound), reauthPassword: PASSWORD };
    expect(await approves(id, right, bound.who)).toEqual({ level: 4, grace: false });
  });

  it("floors that are not demanded are told of, and refuse nothing", async () => {
    const tomorrow = new Date(world.server.clock.nowMs() + 86_400_000).toISOString();
    await demand({ low: 3 }, { enforceFrom: tomorrow });
    expect(await approves(await pending(LOW), {}, plain)).toEqual({ level: 1, grace: true });
    world.server.clock.advance(86_400_000);
    await refuses(await pending(LOW), {}, plain, [3, 1]);
  });

  it("a refusal for its level spends no attempt at the password", async () => {
    await demand();
    const id = await pending(CRITICAL);
    for (let times = 0; times < 6; times += 1) await refuses(id, { reauthPassword: "Wrong-Horse-7" }, plain, [4, 1]);
    const critical = await pending(CRITICAL);
    const right = { proof: await proofFor(world, critical, bound), reauthPassword: PASSWORD };
    expect(await approves(critical, right, bound.who)).toEqual({ level: 4, grace: false });
  });

  it("the partner above the organization counts, whoever approves there", async () => {
    await demand({}, { requireEnrollment: false });
    const other = await seedPartner(world.server, "other", []);
    await world.server.db
      .insertInto("authenticatorPolicies")
      .values({
        ...{ partnerId: other.partnerId, floorOverrides: { low: 4 }, requireEnrollment: true, enforceFrom: null },
        updatedAt: world.server.clock.now(),
      })
      .execute();
    expect(await approves(await pending(LOW), {}, plain)).toEqual({ level: 1, grace: false });
    await world.server.db.deleteFrom("authenticatorPolicies").execute();
    await demand({ low: 4 });
    const system = await world.server.signIn({ role: "System Admin" });
    await refuses(await pending(LOW), {}, system, [4, 1]);
  });
});
