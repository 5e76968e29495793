import type { toolExecutionStatuses } from "#contract/core/tools";
import type { Fixed, Json } from "../column-types.ts";

/**
 * A call of a tool that had to be approved: one of each request of that kind, which keeps tool, input, targets, digest
 * and tier as they were decided on (docs/mcp.md, "Approval").
 */
export interface ToolExecutionsTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  elevationRequestId: Fixed<string>;
  apiKeyId: Fixed<string>;
  status: (typeof toolExecutionStatuses)[number];
  /** Until when the process that runs it is believed to live. */
  claimedUntil: string | null;
  /** `{result}` of a completed one, `{error, code}` of a failed one. */
  outcome: Json | null;
  createdAt: Fixed<string>;
  updatedAt: string;
}
