import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeKey, makeSite } from "../../../test/enroll.ts";
import { type Action, action, Race, type World } from "../../../test/fleet/command-race.ts";
import { type Answer, databases, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { type CommandStatus, isOpen, transitions } from "./rules.ts";

const RUNS = process.env["PROVE"] ? 200 : 12;

/** What happens at the same moment, one moment after the other. */
const moments = fc.array(fc.array(action, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 8 });

type Rows = Awaited<ReturnType<Race["commands"]>>;
type Device = Awaited<ReturnType<Race["device"]>>;

/** What ends a command without its agent, and what it says of it. */
const reasons: Readonly<Record<string, string>> = {
  cancel: "cancelled",
  time: "expired",
  quarantine: "device_quarantined",
  move: "device_moved",
  decommission: "device_decommissioned",
};

/** What an action that happens alone is answered: status and code. */
function expected(one: Action, { device, rows, id }: { device: Device; rows: Rows; id: string | undefined }) {
  const { status } = device;
  const gone = status === "decommissioned";
  const command = rows.find((row) => row.id === id && row.deviceId !== null);
  if (one.kind === "claim" || one.kind === "answer") {
    if (gone) return [403, "DEVICE_DECOMMISSIONED"];
    if (status === "quarantined") return [403, "DEVICE_QUARANTINED"];
    return one.kind === "claim" || command ? [200, undefined] : [404, "NOT_FOUND"];
  }
  if (one.kind === "queue") {
    if (gone) return [400, "DEVICE_DECOMMISSIONED"];
    return status === "quarantined" ? [409, "INVALID_STATE"] : [201, undefined];
  }
  if (one.kind === "cancel") {
    if (!command) return [404, "NOT_FOUND"];
    if (gone) return [400, "DEVICE_DECOMMISSIONED"];
    return command.status === "pending" ? [200, undefined] : [409, "INVALID_STATE"];
  }
  if (gone) return [409, "ALREADY_DECOMMISSIONED"];
  return one.kind === "lift" && status !== "quarantined" ? [409, "INVALID_STATE"] : [200, undefined];
}

describe.each(databases)("commands under races on %s", (database) => {
  let server: TestServer;
  let world: World;
  /** How often each command's end was told. */
  const told = new Map<string, string[]>();

  beforeAll(async () => {
    const limits = { AGENT_ENROLL_RATE_LIMIT: "100000", API_RATE_LIMIT_PER_MINUTE: "0" };
    server = await startTestServer(database, limits);
    const { partnerId, orgIds } = await seedPartner(server, "acme", ["acme", "other"]);
    const places = [];
    for (const orgId of orgIds) places.push({ orgId, siteId: await makeSite(server, orgId) });
    world = { server, partnerId, places, key: await makeKey(server, { orgId: orgIds[0] as string }) };
    const { hooks } = server.services;
    const counting = {
      ...hooks,
      async onCommandEnded(event: Parameters<typeof hooks.onCommandEnded>[0]) {
        told.set(event.command.id, [...(told.get(event.command.id) ?? []), event.command.status]);
        return hooks.onCommandEnded(event);
      },
    };
    Object.assign(server.services, { hooks: counting });
  });
  afterAll(() => server?.stop());

  /** Every command went only where it may, and its end was told once. */
  function checkCommands(rows: Rows, before: ReadonlyMap<string, CommandStatus>, moment: readonly Action[]): void {
    const mayBe = moment.map(({ kind }) => reasons[kind]);
    for (const { id, status, sentAt, completedAt, outcome } of rows) {
      const was = before.get(id) ?? "pending";
      // Between two looks a command may have gone through `sent`.
      const reachable: readonly string[] = [was, ...transitions[was], ...(was === "pending" ? transitions.sent : [])];
      expect(reachable, `${was} became ${status}`).toContain(status);
      expect(sentAt === null, status).toBe(status === "pending" || status === "cancelled");
      expect(completedAt === null, status).toBe(isOpen(status));
      expect(told.get(id) ?? [], "told once, of its end").toEqual(isOpen(status) ? [] : [status]);
      if (isOpen(was) && outcome?.["reason"] !== undefined) {
        expect(mayBe, "ended for what happened").toContain(outcome["reason"]);
        expect([outcome["status"], outcome["timedOutBy"]]).toEqual(
          status === "cancelled" ? ["cancelled", undefined] : ["timeout", "server"],
        );
      }
    }
  }

  /** What a device is told to do is its organization's word, and stands only while the device may receive it. */
  function checkDevice(device: Device, rows: Rows): void {
    for (const { status, deviceId, orgId } of rows) {
      if (isOpen(status)) expect(["quarantined", "decommissioned"], "open commands end").not.toContain(device.status);
      if (isOpen(status)) expect(deviceId, "a command that has left its device has ended").not.toBeNull();
      if (deviceId !== null) expect(orgId, "what the old organization told it stays there").toBe(device.orgId);
    }
  }

  function checkCounts({ handed, accepted, cancelled, ids }: Race, rows: Rows): void {
    expect(new Set(handed).size, "handed out once").toBe(handed.length);
    expect(new Set(accepted).size, "answered once").toBe(accepted.length);
    expect(new Set(cancelled).size, "cancelled once").toBe(cancelled.length);
    for (const id of accepted) expect(handed).toContain(id);
    for (const { id, status } of rows) if (status === "cancelled") expect(handed, "never ran").not.toContain(id);
    for (const { id, status } of rows) if (cancelled.includes(id)) expect(status).toBe("cancelled");
    expect(rows.map(({ id }) => id).sort()).toEqual(ids.toSorted());
  }

  it("are handed out once, end once, change only as they may, and their end is told once", async () => {
    await fc.assert(
      fc.asyncProperty(moments, async (all) => {
        const race = await Race.begin(world);
        let known: { device: Device; rows: Rows } = { device: await race.device(), rows: [] };
        for (const moment of all) {
          const id = race.named(moment[0] as Action);
          const answers = await race.together(moment);
          const told = answers.map((answer?: Answer) => `${answer?.status} ${answer?.body?.code}`);
          for (const answer of answers) expect(answer?.status ?? 200, told.join()).toBeLessThan(500);
          const [answer] = answers;
          if (moment.length === 1 && answer)
            expect([answer.status, answer.body.code]).toEqual(expected(moment[0] as Action, { ...known, id }));
          const before = new Map(known.rows.map((row) => [row.id, row.status]));
          known = { device: await race.device(), rows: await race.commands() };
          checkCommands(known.rows, before, moment);
          checkDevice(known.device, known.rows);
          checkCounts(race, known.rows);
        }
      }),
      { numRuns: RUNS, seed: 20261128, endOnFailure: true },
    );
  });
});
