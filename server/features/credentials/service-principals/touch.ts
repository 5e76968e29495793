import { user } from "#server/access/principal";
import { writeCredentials } from "#server/access/write-credentials";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

/** Stamps a principal that the caller holds and that was active as changed by this caller; one that is disabled meanwhile refuses. */
export async function touch(call: Call, id: string, change: { status?: "disabled" } = {}): Promise<void> {
  const stamps = { lastUpdatedBy: user(call).userId, updatedAt: call.clock.now() };
  const touched = await writeCredentials(call, (all) =>
    all
      .updateTable("servicePrincipals")
      .set({ ...change, ...stamps })
      .where("id", "=", id)
      .where("status", "=", "active")
      .executeTakeFirst(),
  );
  if (touched.numUpdatedRows !== 1n) throw problem("INVALID_STATE", { details: { status: "disabled" } });
}
