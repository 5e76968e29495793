import type { Endpoint } from "#contract/core/endpoint";
import type { customFields } from "#contract/resources/fleet/custom-fields";
import { stripCustomValues } from "#server/features/fleet/devices/custom-values";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { writableField } from "./owner.ts";

type RemoveCall = typeof customFields.remove extends Endpoint<infer T> ? Call<T> : never;

/** Deletes a field with its values; a value that is being stored meanwhile waits, and finds no field. */
export async function removeField(call: RemoveCall) {
  return call.transaction(async (tx) => {
    const { id, orgId, ownerId, fieldKey, type } = await writableField(call, tx, call.params.id);
    const gone = await tx.deleteFrom("customFields").where("id", "=", id).executeTakeFirst();
    if (gone.numDeletedRows !== 1n) throw problem("NOT_FOUND");
    const owner = orgId === null ? { partnerId: ownerId } : { orgId };
    const devices = await stripCustomValues(call, tx, { owner, fieldKey });
    call.audit.note({ details: { fieldKey, type, devices } });
    return { success: true as const };
  });
}
