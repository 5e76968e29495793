import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asSystem } from "#server/db/as-system";
import type { Tx } from "#server/db/unit-of-work";
import { makeDevices } from "../../../test/devices.ts";
import { makeSite } from "../../../test/enroll.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { claimCommands } from "./claim-commands.ts";
import { endOpenCommands } from "./end-open-commands.ts";
import { insertCommand } from "./insert-command.ts";
import { type CommandStatus, isOpen, transitions } from "./rules.ts";
import { submitResult } from "./submit-result.ts";
import { endOverdueCommands } from "./sweep.ts";

const RUNS = process.env["PROVE"] ? 200 : 8;

/** What happens at the same moment. */
const step = fc.oneof(
  fc.constant({ kind: "queue" } as const),
  fc.constant({ kind: "claim" } as const),
  fc.record({ kind: fc.constant("answer" as const), status: fc.constantFrom("completed", "failed"), at: fc.nat(5) }),
  fc.constant({ kind: "time" } as const),
  fc.constant({ kind: "gone" } as const),
);
const moments = fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 6 });

describe.each(databases)("commands under races on %s", (database) => {
  let server: TestServer;
  let orgId: string;
  let siteId: string;
  /** How often each command's end was told. */
  const told = new Map<string, string[]>();

  beforeAll(async () => {
    server = await startTestServer(database);
    orgId = (await seedPartner(server, "acme", ["acme"])).orgIds[0] as string;
    siteId = await makeSite(server, orgId);
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

  const within = <R>(work: (tx: Tx) => Promise<R>): Promise<R> =>
    asSystem(server.services, "work commands").transaction().execute(work);

  it("are handed out once, end once, change only as they may, and their end is told once", async () => {
    await fc.assert(
      fc.asyncProperty(moments, async (all) => {
        const [deviceId] = (await makeDevices(server, [{ orgId, siteId, hostname: "racing" }])) as [string];
        const device = { id: deviceId, orgId, hostname: "racing", watchdogStatus: null };
        const ids: string[] = [];
        const handed: string[] = [];
        const accepted: string[] = [];
        let before = new Map<string, CommandStatus>();
        const run = async (one: (typeof all)[number][number]): Promise<void> => {
          const { services } = server;
          if (one.kind === "queue")
            ids.push(await within((tx) => insertCommand(tx, services, { device, type: "lock", payload: {} })));
          else if (one.kind === "claim") {
            const claim = { deviceId, role: "agent" as const, uninstallOnly: false };
            handed.push(...(await within((tx) => claimCommands(tx, services, claim))).map(({ id }) => id));
          } else if (one.kind === "answer") {
            const commandId = ids[one.at % Math.max(ids.length, 1)];
            if (commandId === undefined) return;
            const report = () => ({ status: one.status as "completed" | "failed" });
            const answer = { commandId, deviceId, role: "agent" as const, uninstallOnly: false, report };
            const { ignored } = await within((tx) => submitResult(tx, services, answer));
            if (!ignored) accepted.push(commandId);
          } else if (one.kind === "time") {
            server.clock.advance(6 * 60_000);
            await endOverdueCommands(services);
          } else {
            const now = services.clock.now();
            await within((tx) => endOpenCommands(tx, services, { deviceId, reason: "test", now }));
          }
        };
        for (const moment of all) {
          await Promise.all(moment.map(run));
          const rows = await server.db
            .selectFrom("deviceCommands")
            .selectAll()
            .where("deviceId", "=", deviceId)
            .execute();
          for (const { id, status, sentAt, completedAt } of rows) {
            const was = before.get(id) ?? "pending";
            // Between two looks a command may have gone through `sent`.
            const reachable: readonly string[] = [
              was,
              ...transitions[was],
              ...(was === "pending" ? transitions.sent : []),
            ];
            expect(reachable, `${was} became ${status}`).toContain(status);
            expect(sentAt === null, status).toBe(status === "pending" || status === "cancelled");
            expect(completedAt === null, status).toBe(isOpen(status));
            expect(told.get(id) ?? [], "told once, of its end").toEqual(isOpen(status) ? [] : [status]);
          }
          before = new Map(rows.map(({ id, status }) => [id, status]));
        }
        expect(new Set(handed).size, "handed out once").toBe(handed.length);
        expect(new Set(accepted).size, "answered once").toBe(accepted.length);
        for (const id of accepted) expect(handed).toContain(id);
      }),
      { numRuns: RUNS, seed: 20261128, endOnFailure: true },
    );
  });
});
