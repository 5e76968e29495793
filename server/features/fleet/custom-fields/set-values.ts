import { isDeepStrictEqual } from "node:util";
import type { Endpoint } from "#contract/core/endpoint";
import type { CustomValue, customFields } from "#contract/resources/fleet/custom-fields";
import { getWritableOrg } from "#server/access/org-access";
import { holdCustomValues, shareFields, storeCustomValues } from "#server/features/fleet/devices/custom-values";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { type Field, fieldsOf, getDevice } from "./queries.ts";
import { judge } from "./rules.ts";
import { appliesTo, shown } from "./values.ts";

type SetCall = typeof customFields.setValues extends Endpoint<infer T> ? Call<T> : never;

/** Custom values of one device, as JSON. */
const VALUES_MAX_BYTES = 64 * 1024;

/**
 * Sets and deletes values, all of them or none (docs/fleet.md, "Custom values"). Fields cannot be deleted meanwhile, and
 * two that write the same device at once are added up.
 */
export async function setValues(call: SetCall) {
  return call.transaction(async (tx) => {
    const { id, hostname, siteId, ...device } = await getDevice(call, tx, call.params.id);
    const { orgId, partnerId } = device;
    call.audit.note({ resource: { type: "device", id, name: hostname }, owner: { orgId }, siteIds: [siteId] });
    await getWritableOrg(call, orgId, tx);
    await shareFields(tx, call.services, partnerId);
    const fields = await fieldsOf(tx, device);
    const change = judged(fields, device.osType, call.body);
    const before = await holdCustomValues(call, tx, id);
    if (before === undefined) throw problem("NOT_FOUND");
    const after = Object.fromEntries(Object.entries({ ...before, ...change }).filter(([, value]) => value !== null));
    if (Buffer.byteLength(JSON.stringify(after)) > VALUES_MAX_BYTES)
      throw refused([{ key: "", reason: `the values of a device may take ${VALUES_MAX_BYTES} bytes` }]);
    const changed = Object.keys(change).filter((key) => !isDeepStrictEqual(before[key], after[key]));
    call.audit.note({ details: { changedFields: changed } });
    if (changed.length > 0) {
      await storeCustomValues(call, tx, id, after);
      const data = { deviceId: id, deviceName: hostname, changedFields: changed.map((key) => `custom.${key}`) };
      call.emit("device.updated", { orgId, siteId, data });
    }
    return { customFields: shown(fields, device, after) };
  });
}

type Change = Record<string, CustomValue | null>;

/** The values as they are stored, null where one is deleted. */
function judged(fields: ReadonlyMap<string, Field>, osType: string, given: Change): Change {
  const unknown = Object.keys(given).filter((key) => !fields.has(key));
  if (unknown.length > 0) throw problem("CUSTOM_FIELD_UNKNOWN", { details: { keys: unknown } });
  const read = Object.entries(given).map(([key, value]) => ({
    key,
    result: judgeOne(fields.get(key) as Field, osType, value),
  }));
  const wrong = read.flatMap(({ key, result }) => ("reason" in result ? [{ key, reason: result.reason }] : []));
  if (wrong.length > 0) throw refused(wrong);
  return Object.fromEntries(read.flatMap(({ key, result }) => ("value" in result ? [[key, result.value]] : [])));
}

function judgeOne(field: Field, osType: string, value: CustomValue | null) {
  if (value === null) return field.required ? { reason: "is required, it cannot be cleared" } : { value };
  return appliesTo(field, osType) ? judge(field, value) : { reason: `is no field of ${osType}` };
}

const refused = (errors: { key: string; reason: string }[]) =>
  problem("CUSTOM_FIELD_INVALID", {
    message: errors.map(({ key, reason }) => (key === "" ? reason : `${key}: ${reason}`)).join("; "),
    details: { errors },
  });
