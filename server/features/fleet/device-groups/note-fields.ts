import { chunks } from "#server/db/chunks";
import type { Tx } from "#server/db/unit-of-work";

/**
 * What the conditions of an organization's groups speak of, anew: changes of other fields are not noted. All groups of
 * the organization are held; needs an unscoped handle.
 */
export async function noteFields(tx: Tx, orgId: string): Promise<void> {
  const groups = await tx
    .selectFrom("deviceGroups")
    .select(["filterFieldsUsed", "filterGroupIds"])
    .where("orgId", "=", orgId)
    .where("type", "=", "dynamic")
    .execute();
  const fields = new Set(
    groups.flatMap((group) => [...group.filterFieldsUsed, ...group.filterGroupIds.map((id) => `groupId:${id}`)]),
  );
  await tx.deleteFrom("deviceGroupFields").where("orgId", "=", orgId).execute();
  const rows = [...fields].map((field) => ({ orgId, field }));
  for (const some of chunks(rows)) await tx.insertInto("deviceGroupFields").values(some).execute();
}

/** All devices of a group are looked at once more: what changed while it was written is noted for nobody. */
export const noteWhole = async (tx: Tx, { id, orgId }: { id: string; orgId: string }): Promise<void> =>
  void (await tx
    .insertInto("deviceGroupDue")
    .values({ orgId, deviceId: null, groupId: id, field: "*", origin: "", claimedAt: null })
    .execute());

/** These devices of a group are looked at once more. */
export async function noteSome(
  tx: Tx,
  { id, orgId }: { id: string; orgId: string },
  deviceIds: readonly string[],
): Promise<void> {
  const rows = deviceIds.map((deviceId) => ({ orgId, deviceId, groupId: id, field: "*", origin: "", claimedAt: null }));
  for (const some of chunks(rows)) await tx.insertInto("deviceGroupDue").values(some).execute();
}
