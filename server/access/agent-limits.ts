import type { Limit } from "./rate-limit.ts";

/** Requests and frames of a device (docs/agents.md, "Limits of an agent"). */
export const agentRequests: Limit = { name: "agent", max: 120, windowSeconds: 60 };
