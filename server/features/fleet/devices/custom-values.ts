import type { Json } from "#server/db/column-types";
import { hasKey, withoutKey } from "#server/db/dialect/json";
import { held } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";

type Writing = Pick<Call, "clock" | "services">;

/** The custom values of a device, held until the transaction ends. */
export async function holdCustomValues(call: Writing, tx: Tx, deviceId: string): Promise<Json | undefined> {
  const query = tx.selectFrom("devices").select("customFields").where("id", "=", deviceId);
  return (await held(query, call.services.store.dialect).executeTakeFirst())?.customFields;
}

/** Writes what `holdCustomValues` held. */
export async function storeCustomValues(call: Writing, tx: Tx, deviceId: string, customFields: Json): Promise<void> {
  await tx
    .updateTable("devices")
    .set({ customFields, updatedAt: call.clock.now() })
    .where("id", "=", deviceId)
    .execute();
}

/** Takes the values of a field that is gone from every device of its owner; answers of how many. */
export async function stripCustomValues(
  call: Writing,
  tx: Tx,
  { owner, fieldKey }: { owner: { orgId: string } | { partnerId: string }; fieldKey: string },
): Promise<number> {
  const { dialect } = call.services.store;
  const stripped = await tx
    .updateTable("devices")
    .set((eb) => ({ customFields: withoutKey(eb.ref("customFields"), fieldKey, dialect), updatedAt: call.clock.now() }))
    .where((eb) => ("orgId" in owner ? eb("orgId", "=", owner.orgId) : eb("partnerId", "=", owner.partnerId)))
    .where((eb) => hasKey(eb.ref("customFields"), fieldKey, dialect))
    .executeTakeFirst();
  return Number(stripped.numUpdatedRows);
}
