import { expect } from "vitest";
import { endOverdueCommands } from "#server/features/fleet/device-commands/sweep";
import { type Installation, until } from "../fault/processes.ts";
import type { Orders } from "./orders.ts";
import type { RunningFleet } from "./running-fleet.ts";

const DRAIN_MS = 120_000;

interface Done {
  readonly installation: Installation;
  readonly orders: Orders;
  readonly fleet: RunningFleet;
}

const commandsOf = (installation: Installation) =>
  installation.db.selectFrom("deviceCommands").select(["id", "deviceId", "status", "outcome"]).execute();

/** Resolves when every command was handed out, and every agent that got one knows that its result was taken. */
export const drained = ({ installation, fleet }: Done): Promise<void> =>
  until(
    "every command is answered",
    async () => {
      if ([...fleet.claimed.keys()].some((id) => !fleet.settled.has(id))) return false;
      const waiting = installation.db.selectFrom("deviceCommands").select("id").where("status", "=", "pending");
      return (await waiting.execute()).length === 0;
    },
    { timeoutMs: DRAIN_MS },
  );

/**
 * No command is lost, none ran twice, every result is kept once. One that was handed out by a process that died with it
 * says that it may have run: its agent never saw it, and it times out. Answers how many of these there are.
 */
export async function checkCommands({ installation, orders, fleet }: Done): Promise<{ unseen: number }> {
  expect(orders.refused).toEqual([]);
  expect(fleet.refused).toEqual([]);
  const rows = await commandsOf(installation);
  expect(rows.map(({ id, deviceId }) => `${id} ${deviceId}`).toSorted()).toEqual(
    [...orders.acknowledged].map(([id, deviceId]) => `${id} ${deviceId}`).toSorted(),
  );
  expect([...fleet.claimed].filter(([, times]) => times > 1)).toEqual([]);
  expect([...fleet.taken].filter(([, times]) => times > 1)).toEqual([]);
  const unseen = rows.filter(({ id }) => !fleet.claimed.has(id));
  // In a long run the time of some is up already.
  expect(unseen.filter(({ status }) => status !== "sent" && status !== "timeout")).toEqual([]);
  const answered = rows.filter(({ id }) => fleet.claimed.has(id));
  expect(answered.filter(({ status }) => status !== "completed")).toEqual([]);
  await checkRecord(installation, new Set(answered.map(({ id }) => id)));
  await checkUnseen(
    installation,
    unseen.map(({ id }) => id),
  );
  return { unseen: unseen.length };
}

/** One entry and one event tell of each result. */
async function checkRecord(installation: Installation, answered: ReadonlySet<string>): Promise<void> {
  await installation.settled();
  const entries = installation.db.selectFrom("auditLogs").select(["details", "result"]);
  const submitted = await entries.where("action", "=", "agent.command.result.submit").execute();
  const recorded = submitted.map(({ details }) => (JSON.parse(details) as { commandId: string }).commandId);
  expect(recorded.toSorted()).toEqual([...answered].toSorted());
  const events = installation.db.selectFrom("events").select("data").where("kind", "=", "device.command.completed");
  const told = (await events.execute()).map(({ data }) => (data as { commandId: string }).commandId);
  expect(told.toSorted()).toEqual([...answered].toSorted());
}

/** Once their time to run has passed. */
async function checkUnseen(installation: Installation, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const mine = installation.db.updateTable("deviceCommands").where("id", "in", ids).where("status", "=", "sent");
  await mine.set({ expiresAt: installation.services.clock.now() }).execute();
  await endOverdueCommands(installation.services);
  const ended = (await commandsOf(installation)).filter(({ id }) => ids.includes(id));
  for (const { status, outcome } of ended)
    expect({ status, outcome }).toMatchObject({ status: "timeout", outcome: { timedOutBy: "server" } });
}
