import type { Endpoint } from "#contract/core/endpoint";
import type { customFields } from "#contract/resources/fleet/custom-fields";
import type { Tx } from "#server/db/unit-of-work";
import { groupsNaming } from "#server/features/fleet/device-groups/groups-naming";
import { stripCustomValues } from "#server/features/fleet/devices/custom-values";
import { filtersNaming, type NamedField } from "#server/features/fleet/saved-filters/filters-naming";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { writableField } from "./owner.ts";

type RemoveCall = typeof customFields.remove extends Endpoint<infer T> ? Call<T> : never;

/** Deletes a field with its values; a value that is being stored meanwhile waits, and finds no field. */
export async function removeField(call: RemoveCall) {
  return call.transaction(async (tx) => {
    const { id, orgId, ownerId, fieldKey, type } = await writableField(call, tx, call.params.id);
    const owner = orgId === null ? { partnerId: ownerId } : { orgId };
    await refuseUsed(call, tx, { owner, fieldKey });
    const gone = await tx.deleteFrom("customFields").where("id", "=", id).executeTakeFirst();
    if (gone.numDeletedRows !== 1n) throw problem("NOT_FOUND");
    const devices = await stripCustomValues(call, tx, { owner, fieldKey });
    call.audit.note({ details: { fieldKey, type, devices } });
    return { success: true as const };
  });
}

/** A filter that named a field that is gone would match what nobody meant. */
async function refuseUsed(call: RemoveCall, tx: Tx, field: NamedField): Promise<void> {
  const filterIds = await filtersNaming(tx, call.services.store.dialect, field);
  const groupIds = await groupsNaming(tx, call.services.store.dialect, field);
  if (filterIds.length + groupIds.length > 0) throw problem("IN_USE", { details: { groupIds, filterIds } });
}
