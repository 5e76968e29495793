import { expect } from "vitest";
import type { CommandType } from "#contract/core/command-types";
import type { Summary } from "#fixtures/simulators/agent/counts";
import { type SimulationOptions, simulate } from "#fixtures/simulators/agent/simulation";
import { asSystem } from "#server/db/as-system";
import type { Tx } from "#server/db/unit-of-work";
import { insertCommand } from "#server/features/fleet/device-commands/insert-command";
import { makeKey } from "../enroll.ts";
import type { TestServer } from "../harness.ts";

interface Running {
  readonly orgId: string;
  /** Commands queued for a device each, as soon as it is there. */
  readonly given: readonly (readonly CommandType[])[];
  readonly options?: Partial<SimulationOptions>;
  /** The clock of the server and of the devices goes so much faster. */
  readonly pace?: number;
  /** Looked at again and again; the run ends when it holds. */
  until(summary: Summary, deviceIds: readonly string[]): boolean | Promise<boolean>;
}

const TICK_MS = 10;
const PATIENCE_MS = 20_000;

/** Runs a simulated fleet against a server whose clock is held, until it has done what is waited for. */
export async function runFleet(server: TestServer, { orgId, given, options = {}, pace, until }: Running) {
  const stop = new AbortController();
  const deviceIds: string[] = [];
  const queued: Promise<unknown>[] = [];
  const refused: unknown[] = [];
  const tell = ({ event, deviceId }: Record<string, unknown>) => {
    if (event === "refused") refused.push(deviceId);
    if (event !== "enrolled") return;
    const device = { id: deviceId as string, orgId, hostname: "device", watchdogStatus: null };
    const own = given[deviceIds.length] ?? [];
    deviceIds.push(device.id);
    const queue = async (tx: Tx) => {
      for (const type of own) await insertCommand(tx, server.services, { device, type, payload: {} });
    };
    queued.push(asSystem(server.services, "work commands").transaction().execute(queue));
  };
  const key = await makeKey(server, { orgId, maxUsage: null });
  let lastMs = performance.now();
  const tick = () => {
    const now = performance.now();
    server.clock.advance(Math.round((now - lastMs) * (pace ?? 0)));
    lastMs = now;
  };
  const ticking = pace === undefined ? undefined : setInterval(tick, TICK_MS);
  const running = simulate({
    ...{ baseUrl: server.url, enrollmentKey: key.raw, count: given.length, seed: "e2e", intervalMs: 1_000, tell },
    ...(pace === undefined ? {} : { pace, now: () => server.clock.nowMs() }),
    ...options,
    signal: stop.signal,
  });
  try {
    const done = async () => until(running.summary(), deviceIds);
    await expect.poll(done, { interval: 20, timeout: PATIENCE_MS }).toBe(true);
  } finally {
    stop.abort();
    await running.ended;
    clearInterval(ticking);
  }
  await Promise.all(queued);
  const rows = server.db.selectFrom("deviceCommands").selectAll().where("deviceId", "in", deviceIds);
  return { summary: running.summary(), deviceIds, refused, commands: await rows.execute() };
}
