import type { Json } from "#server/db/column-types";
import { hasKey, withoutKey } from "#server/db/dialect/json";
import { held, shareText } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import type { Services } from "#server/services";

type Writing = Pick<Call, "clock" | "services">;
interface Holding {
  readonly services: Pick<Services, "store">;
}

/** Held by what adds, changes or deletes definitions, and shared by what stores values of them. */
export const fieldsLock = (partnerId: string) => `custom-fields:${partnerId}`;

/** Keeps the fields of a partner as they are until the transaction ends. */
export const shareFields = (tx: Tx, { store }: Pick<Services, "store">, partnerId: string): Promise<void> =>
  shareText(tx, store.dialect, fieldsLock(partnerId));

/** The custom values of a device, held until the transaction ends. */
export async function holdCustomValues(call: Holding, tx: Tx, deviceId: string): Promise<Json | undefined> {
  const query = tx.selectFrom("devices").select("customFields").where("id", "=", deviceId);
  return (await held(query, call.services.store.dialect).executeTakeFirst())?.customFields;
}

/** Writes what `holdCustomValues` held. */
export async function storeCustomValues(
  call: Pick<Call, "clock">,
  tx: Tx,
  deviceId: string,
  customFields: Json,
): Promise<void> {
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
