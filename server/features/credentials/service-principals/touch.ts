import { user } from "#server/access/principal";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

/** Stamps a principal that was active as changed by this caller; one that is disabled meanwhile refuses. */
export async function touch(call: Call, tx: Tx, id: string, change: { status?: "disabled" } = {}): Promise<void> {
  const touched = await tx
    .updateTable("servicePrincipals")
    .set({ ...change, lastUpdatedBy: user(call).userId, updatedAt: call.clock.now() })
    .where("id", "=", id)
    .where("status", "=", "active")
    .executeTakeFirst();
  if (touched.numUpdatedRows !== 1n) throw problem("INVALID_STATE", { details: { status: "disabled" } });
}
