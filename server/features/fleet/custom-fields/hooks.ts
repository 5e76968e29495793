import type { CustomValue } from "#contract/resources/fleet/custom-fields";
import { holdCustomValues, storeCustomValues } from "#server/features/fleet/devices/custom-values";
import type { DeviceMovedEvent, RoomHooks } from "#server/room-hooks";
import { fieldsOf } from "./queries.ts";
import { judge } from "./rules.ts";

export const hooks: RoomHooks = { onDeviceMoved: dropForeignValues };

/**
 * A value stays with the device where its new organization, or the partner, has a field of that key that takes it
 * (docs/fleet.md, "Moving to another organization").
 */
async function dropForeignValues({ tx, services, deviceId, toOrgId }: DeviceMovedEvent) {
  const { partnerId } = await tx
    .selectFrom("organizations")
    .select("partnerId")
    .where("id", "=", toOrgId)
    .executeTakeFirstOrThrow();
  const fields = await fieldsOf(tx, { orgId: toOrgId, partnerId });
  const values = (await holdCustomValues({ services }, tx, deviceId)) ?? {};
  const kept = Object.entries(values).filter(([key, value]) => {
    const field = fields.get(key);
    return field?.orgId === null || (field !== undefined && "value" in judge(field, value as CustomValue));
  });
  const dropped = Object.keys(values).filter((key) => !kept.some(([name]) => name === key));
  if (dropped.length === 0) return {};
  await storeCustomValues(services, tx, deviceId, Object.fromEntries(kept));
  return { droppedCustomFields: dropped.sort() };
}
