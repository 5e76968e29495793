import type { toolExecutionStatuses } from "#contract/core/tools";
import { MINUTE } from "#server/platform/clock";

export type ExecutionStatus = (typeof toolExecutionStatuses)[number];

/** Every change of status there is (docs/mcp.md, "Approval"). Final statuses lead nowhere. */
export const transitions = {
  pending: ["approved", "rejected", "expired"],
  approved: ["executing", "rejected", "expired"],
  executing: ["completed", "failed"],
  completed: [],
  failed: [],
  rejected: [],
  expired: [],
} as const satisfies Record<ExecutionStatus, readonly ExecutionStatus[]>;

/** The statuses that lead to one. */
export const leadingTo = (to: ExecutionStatus): ExecutionStatus[] =>
  (Object.keys(transitions) as ExecutionStatus[]).filter((from) =>
    (transitions[from] as readonly ExecutionStatus[]).includes(to),
  );

/** Calls of a key that wait at once. */
export const pendingLimit = { name: "tool-calls-pending", max: 20 } as const;
/** So long after its claim a call has ended, or whoever ran it is gone. */
export const CLAIM_MS = 2 * MINUTE;
