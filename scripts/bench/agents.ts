import type { Bench } from "./bench.ts";
import { byAgents } from "./by-agents.ts";

/** So many agents that none meets its limit of requests a minute. */
const beating = { agents: { count: 6_000, commands: 0 } };
const claiming = { agents: { count: 6_000, commands: 20 } };
const report = {
  ...{ agentVersion: "1.4.0", hostname: "reception-pc", osVersion: "Windows 11 24H2", uptimeSeconds: 86_400 },
  ...{ lastUser: "ana", pendingReboot: false, metrics: { cpuPercent: 12.5, ramPercent: 48, diskPercent: 61 } },
};
const heartbeat = { name: "heartbeat", method: "POST", path: "heartbeat", body: report, fleet: beating } as const;
const claim = { name: "claim of ten commands", method: "GET", path: "commands", fleet: claiming } as const;

/** What agents do all the time. */
export const agents: readonly Bench[] = [
  byAgents({ ...heartbeat, database: "SQLite", least: 0.08 }),
  byAgents({ ...heartbeat, database: "Postgres", least: 0.04 }),
  byAgents({ ...claim, database: "SQLite", least: 0.02 }),
  byAgents({ ...claim, database: "Postgres", least: 0.01 }),
];
