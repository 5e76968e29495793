import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { SeededAgent } from "./seed-agents.ts";
import type { Target } from "./target.ts";

/** As those of 3,000 agents that report each minute. */
const EVERY_MS = 20;

export interface Beats {
  readonly count: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** Heartbeats of agents in turn, at an even pace whatever the server does, until `over` resolves. */
export async function beatDuring({ url, agents = [] }: Target, over: Promise<unknown>): Promise<Beats> {
  const connections = new Agent({ keepAlive: true, maxSockets: 64 });
  const took: number[] = [];
  const sent: Promise<void>[] = [];
  let [failed, isOver] = [0, false];
  const ended = over.finally(() => {
    isOver = true;
  });
  const beganMs = performance.now();
  for (let turn = 0; !isOver; turn += 1) {
    sent.push(
      beat(url, agents[turn % agents.length] as SeededAgent, turn, connections).then(
        (ms) => void took.push(ms),
        () => {
          failed += 1;
        },
      ),
    );
    await pause(Math.max(0, beganMs + (turn + 1) * EVERY_MS - performance.now()));
  }
  await Promise.all([...sent, ended]);
  connections.destroy();
  const sorted = took.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  return { count: took.length + failed, failed, p50Ms: at(0.5), p95Ms: at(0.95) };
}

/** How long it took to be answered 200. */
function beat(url: string, { agentId, token }: SeededAgent, turn: number, agent: Agent): Promise<number> {
  const report = { agentVersion: "1.4.0", uptimeSeconds: turn, metrics: { cpuPercent: turn % 101, ramPercent: 48 } };
  const body = JSON.stringify(report);
  const beganMs = performance.now();
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/api/v1/agents/${agentId}/heartbeat`, {
      ...{ method: "POST", agent },
      headers: {
        ...{ Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        "Content-Length": Buffer.byteLength(body),
      },
    });
    asked.once("error", reject);
    asked.once("response", (response) => {
      response.resume();
      response.once("end", () =>
        response.statusCode === 200
          ? resolve(performance.now() - beganMs)
          : reject(new Error(`answered ${response.statusCode}`)),
      );
    });
    asked.end(body);
  });
}
