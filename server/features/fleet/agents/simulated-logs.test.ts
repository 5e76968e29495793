import { expect, it } from "vitest";
import { Connection } from "#fixtures/simulators/agent/connection";
import { SimulatedDevice } from "#fixtures/simulators/agent/device";
import { machineAt } from "#fixtures/simulators/agent/machines";
import type { Wires } from "#fixtures/simulators/agent/wires";

const MINUTE_MS = 60_000;
const identity = { agentId: "a", deviceId: "d", orgId: "o", siteId: "s", agentToken: "t", watchdogToken: "w" };

/** A device at a clock that the test moves, and the lines of its log that the server was sent. */
function device() {
  const state = { nowMs: Date.UTC(2026, 0, 1, 9), sent: [] as string[], away: false };
  const record = { index: 0, nonce: "n", bootedAtMs: 0, identity };
  const options = { machine: machineAt("office", 0), record, kinds: new Set<never>(), seed: "office" };
  const send = async (path: string, { body }: { body?: unknown }) => {
    if (state.away) throw new Error("away");
    if (path.endsWith("/logs"))
      state.sent.push(...(body as { logs: { timestamp: string }[] }).logs.map(({ timestamp }) => timestamp));
    return {};
  };
  const connectionOf = () =>
    new Connection(new SimulatedDevice({ ...options, now: () => state.nowMs }), {
      transport: { send },
    } as never as Wires);
  return { state, connectionOf };
}

it("a simulated agent sends each line of its log once, however often it reports", async () => {
  const { state, connectionOf } = device();
  const connection = connectionOf();
  for (const minutes of [0, 3, 0, 18, 1]) {
    state.nowMs += minutes * MINUTE_MS;
    await Promise.all([connection.report(), connection.report()]);
  }
  // A later run of the same device, of which the record was kept.
  state.nowMs += 5 * MINUTE_MS;
  await connectionOf().report();
  expect(state.sent.length).toBeGreaterThan(8);
  expect(new Set(state.sent).size).toBe(state.sent.length);
  expect(state.sent).toEqual(state.sent.toSorted());
});

it("sends later what the server did not take", async () => {
  const { state, connectionOf } = device();
  const connection = connectionOf();
  state.away = true;
  await expect(connection.report()).rejects.toThrow("away");
  state.away = false;
  await connection.report();
  expect(state.sent).not.toEqual([]);
});
