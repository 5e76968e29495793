import type { Config } from "#server/config";
import type { Reader, Tx } from "#server/db/unit-of-work";
import { followRequest } from "#server/features/access-control/tool-executions/store";
import { enqueueJob } from "#server/jobs/queue";
import { MINUTE, SECOND } from "#server/platform/clock";
import { type Problem, problem } from "#server/problem";
import type { EventServices } from "#server/room-hooks";
import type { HeldElevation } from "./columns.ts";

type Flow = Pick<HeldElevation, "flowType">;

/** Asked by a key that called a tool: the call stands beside the request and follows it (docs/mcp.md, "Approval"). */
export const isToolAction = ({ flowType }: Flow): boolean => flowType === "ai_tool_action";

/** How long a request waits for a decision. */
export const waitsMs = (config: Pick<Config, "pamPendingTtlMinutes" | "toolExecutionTtlSeconds">, of: Flow): number =>
  isToolAction(of) ? config.toolExecutionTtlSeconds * SECOND : config.pamPendingTtlMinutes * MINUTE;

/** Why a request that waits no more is not decided. */
export const notPending = ({ status, flowType }: Flow & { readonly status: string }): Problem =>
  problem(status === "expired" && isToolAction({ flowType } as Flow) ? "EXECUTION_TIMED_OUT" : "INVALID_STATE", {
    details: { status },
  });

/** Whoever runs approved calls (`integrations/mcp-tools/jobs.ts`). */
export const RUN_JOB = "mcp-tools.run";

/** The call follows the decision in its transaction, or there is no decision. An approved one is run right after. */
export async function decideCall(
  tx: Tx,
  services: Pick<EventServices, "clock" | "random">,
  elevation: HeldElevation,
  to: "approved" | "rejected",
): Promise<void> {
  if (!isToolAction(elevation)) return;
  if (!(await followRequest(tx, services, elevation, to))) throw problem("EXECUTION_TIMED_OUT");
  if (to === "rejected") return;
  const { id, orgId } = elevation;
  await enqueueJob(tx, services, { kind: RUN_JOB, payload: { id, orgId }, uniqueKey: `${RUN_JOB} ${id}` });
}

/** Whether this person made the key that asked, or its material of today, in whatever tenant or session they are now. */
export async function holdsKey(
  db: Reader,
  { id, orgId, flowType }: Flow & Pick<HeldElevation, "id" | "orgId">,
  userId: string,
): Promise<boolean> {
  if (!isToolAction({ flowType })) return false;
  const key = await db
    .selectFrom("toolExecutions")
    .innerJoin("apiKeys", "apiKeys.id", "toolExecutions.apiKeyId")
    .select(["apiKeys.createdBy", "apiKeys.issuedBy"])
    .where("toolExecutions.elevationRequestId", "=", id)
    .where("toolExecutions.orgId", "=", orgId)
    .executeTakeFirst();
  return key === undefined || key.createdBy === userId || key.issuedBy === userId;
}
