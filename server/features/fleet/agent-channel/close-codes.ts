import type { ErrorCode } from "#contract/core/errors";

/** Why the server closes a connection (docs/agents.md, "Close codes"). */
export const closeCodes = {
  stopping: 1001,
  failed: 1011,
  tryAgain: 1013,
  unauthorized: 4001,
  superseded: 4002,
  noPong: 4008,
  rateLimit: 4029,
  organizationChanged: 4040,
  decommissioned: 4041,
  offboarding: 4403,
} as const;

export type CloseReason = keyof typeof closeCodes;

const refusals: Partial<Record<ErrorCode, CloseReason>> = {
  INVALID_AGENT_CREDENTIALS: "unauthorized",
  DEVICE_QUARANTINED: "unauthorized",
  DEVICE_DECOMMISSIONED: "decommissioned",
  TENANT_OFFBOARDING: "offboarding",
};

/** Undefined: the answer is an `error` frame, and the connection stays open. */
export const closedBy = (code: ErrorCode): CloseReason | undefined => refusals[code];
