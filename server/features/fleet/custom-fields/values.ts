import type { Endpoint } from "#contract/core/endpoint";
import type { CustomValue, customFields } from "#contract/resources/fleet/custom-fields";
import type { Json } from "#server/db/column-types";
import type { Call } from "#server/http/call";
import { type Field, fieldsOf, getDevice } from "./queries.ts";

type ValuesCall = typeof customFields.values extends Endpoint<infer T> ? Call<T> : never;

export async function showValues(call: ValuesCall) {
  const device = await getDevice(call, call.db, call.params.id);
  return { customFields: shown(await fieldsOf(call.db, device), device, device.customFields) };
}

/** Stored values over the defaults of the fields that the device has (docs/fleet.md, "Custom values"). */
export function shown(
  fields: ReadonlyMap<string, Field>,
  device: { osType: Field["deviceTypes"] extends (infer T)[] | null ? T : never },
  stored: Json,
): Record<string, CustomValue> {
  const defaults = [...fields.values()].filter(({ defaultValue }) => defaultValue !== null);
  const own = defaults.filter((field) => appliesTo(field, device.osType));
  const values = own.map(({ fieldKey, defaultValue }) => [fieldKey, defaultValue]);
  return { ...Object.fromEntries(values), ...stored } as Record<string, CustomValue>;
}

export const appliesTo = ({ deviceTypes }: Pick<Field, "deviceTypes">, osType: string): boolean =>
  deviceTypes === null || (deviceTypes as string[]).includes(osType);
