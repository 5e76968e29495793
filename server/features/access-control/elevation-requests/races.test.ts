import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ElevationWorld } from "../../../test/access-control/elevation-world.ts";
import { databases } from "../../../test/harness.ts";
import { inProof, PROOF_TIMEOUT_MS } from "../../../test/proving.ts";
import { repeating } from "../../../test/repeating.ts";
import { expireStale, expireWindows } from "./sweep.ts";

const MINUTE = 60_000;
const ROUNDS = inProof({ long: 200, short: 10 });
const rounds = repeating(ROUNDS);

describe.each(databases)("races over elevated rights on %s", (database) => {
  let world: ElevationWorld;

  beforeAll(async () => {
    world = await ElevationWorld.start(database);
  });
  afterAll(() => world?.stop());

  const counted = (answers: { status: number }[], status: number) =>
    answers.filter((one) => one.status === status).length;

  it(
    `eight people decide at once: one does, the others are told (C25), ${ROUNDS} times`,
    async () => {
      const agent = await world.device();
      const people = await Promise.all(
        Array.from({ length: 8 }, (_, at) => world.person("Org Admin", { name: `Person ${at}` })),
      );
      for (let round = 0; round < ROUNDS; round += 1) {
        const id = await world.pending(agent.deviceId);
        const answers = await Promise.all(
          people.map((who, at) => (at % 2 === 0 ? world.approve(id, {}, who) : world.deny(id, {}, who))),
        );
        expect([counted(answers, 200), counted(answers, 409)]).toEqual([1, 7]);
        const winner = answers.findIndex(({ status }) => status === 200);
        const shown = await world.show(id);
        const name = `Person ${winner}`;
        expect(shown).toMatchObject(
          winner % 2 === 0
            ? { status: "approved", approvedByName: name, deniedByName: null }
            : { status: "denied", deniedByName: name, approvedByName: null },
        );
        expect(shown.events).toHaveLength(1);
      }
    },
    PROOF_TIMEOUT_MS,
  );

  rounds("an approval and the end of the wait: one of them", async () => {
    const agent = await world.device();
    const id = await world.pending(agent.deviceId);
    world.server.clock.advance(60 * MINUTE);
    const [{ status }] = await Promise.all([world.approve(id), expireStale(world.server.services)]);
    expect(status).toBe(409);
    expect(await world.show(id)).toMatchObject({ status: "expired", approvedByName: null });
    expect(await world.ledger(id)).toEqual(["expired"]);
  });

  rounds("four orders to carry out: one is queued", async () => {
    const agent = await world.device();
    const id = await world.pending(agent.deviceId);
    await world.approve(id);
    const answers = await Promise.all([1, 2, 3, 4].map(() => world.actuate(agent.deviceId, id)));
    expect([counted(answers, 201), counted(answers, 409)]).toEqual([1, 3]);
    expect(await agent.claim()).toHaveLength(1);
  });

  rounds("an order and the end of the window: never handed out after it", async () => {
    const agent = await world.device();
    const id = await world.pending(agent.deviceId);
    await world.approve(id, { durationMinutes: 1 });
    await Promise.all([
      world.actuate(agent.deviceId, id),
      (async () => {
        world.server.clock.advance(MINUTE);
        await expireWindows(world.server.services);
      })(),
    ]);
    await expireWindows(world.server.services);
    expect((await world.show(id)).status).toBe("expired");
    expect((await agent.claim()).filter(({ type }) => type === "actuate_elevation")).toEqual([]);
  });

  rounds("a revoke and a claim of the order: whatever was handed out is followed by its end", async () => {
    const agent = await world.device();
    const id = await world.pending(agent.deviceId);
    await world.approve(id);
    await world.actuate(agent.deviceId, id);
    const [claimed, revoked] = await Promise.all([agent.claim(), world.revoke(id)]);
    expect(revoked.status).toBe(200);
    const types = [...claimed, ...(await agent.claim())].map(({ type }) => type);
    expect(types.at(-1)).toBe("revoke_elevation");
    expect(types.filter((type) => type === "revoke_elevation")).toHaveLength(1);
    expect((await world.show(id)).status).toBe("revoked");
  });

  rounds("a revoke and the agent's word: the rights are taken back and the device is told", async () => {
    const agent = await world.device();
    const { id, commandId } = await world.actuated(agent);
    const [answered, revoked] = await Promise.all([agent.answer(commandId, { outcome: "ok" }), world.revoke(id)]);
    expect([answered.status, revoked.status]).toEqual([200, 200]);
    expect(await world.show(id)).toMatchObject({ status: "revoked", enforcementStatus: "cleanup_pending" });
    expect((await agent.claim()).map(({ type }) => type)).toEqual(["revoke_elevation"]);
  });

  rounds("a revoke, the agent's word and a move: nobody waits for ever, nothing stays open", async () => {
    const agent = await world.device();
    const { id, commandId } = await world.actuated(agent);
    const move = { orgId: world.otherOrgId, siteId: world.otherSiteId };
    const [answered, revoked, moved] = await Promise.all([
      agent.answer(commandId, { outcome: "ok" }),
      world.revoke(id),
      world.request("POST", `/devices/${agent.deviceId}/move-org`, move),
    ]);
    expect([200, 404]).toContain(answered.status);
    expect([200, 409]).toContain(revoked.status);
    expect(moved.status).toBe(200);
    expect(await world.show(id)).toMatchObject({ status: "revoked", deviceId: null });
  });
});
