import type { Tx } from "#server/db/unit-of-work";
import { leftMeanwhile } from "./hold-device.ts";

/** This connection is the agent's newest: whoever holds an older one ends it (docs/agents.md, "One connection"). */
export async function noteConnection(tx: Tx, deviceId: string, connectionId: string): Promise<void> {
  const noted = await tx
    .updateTable("devices")
    .set({ connectionId })
    .where("id", "=", deviceId)
    .where("status", "not in", ["quarantined", "decommissioned"])
    .executeTakeFirst();
  if (noted.numUpdatedRows !== 1n) throw leftMeanwhile();
}
