import type { Tx } from "#server/db/unit-of-work";
import { claimExecution, type Execution } from "#server/features/access-control/tool-executions/store";
import type { Services } from "#server/services";
import { holdElevation } from "./hold.ts";
import { addLine, bySystem } from "./ledger.ts";

/**
 * Takes an approved call on, once: not after it was taken back, and not after its window (docs/mcp.md, "Approval"). The
 * request is held, so a revocation comes before this or after it. Needs an unscoped transaction.
 */
export async function claimCall(
  tx: Tx,
  services: Pick<Services, "store" | "clock" | "random">,
  { id, orgId, elevationRequestId }: Pick<Execution, "id" | "orgId" | "elevationRequestId">,
): Promise<boolean> {
  const elevation = await holdElevation(tx, services, { id: elevationRequestId, orgId });
  if (!elevation || !(await claimExecution(tx, services, id))) return false;
  await addLine(tx, services, elevation, { event: "command_executed", by: bySystem, facts: { toolExecutionId: id } });
  return true;
}
