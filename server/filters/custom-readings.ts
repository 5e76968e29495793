import type { Expression } from "kysely";
import { typeOfCustom } from "#contract/core/filters/fields";
import { momentOf } from "#contract/core/filters/moments";
import { booleanOf, numberOf } from "#contract/core/filters/read-value";
import type { Definition } from "./definitions.ts";

export type CustomType = (typeof typeOfCustom)[Definition["type"]];

/** The values of custom fields as columns, by key and type: null where a device's organization reads another type. */
export type CustomColumns = ReadonlyMap<string, ReadonlyMap<CustomType, Expression<never>>>;

/** How some organizations read a custom field. */
export interface Reading {
  readonly type: CustomType;
  readonly defaultJson: string | null;
  readonly deviceTypes: readonly string[] | null;
}

export const undefinedField: Reading = { type: "string", defaultJson: null, deviceTypes: null };

/** Definitions that read the field in the same way, with whose they are. */
export function alike(definitions: readonly Definition[]) {
  const groups = new Map<string, { reading: Reading; orgIds: string[]; partnerIds: string[] }>();
  for (const { orgId, partnerId, type, defaultJson, deviceTypes } of definitions) {
    const reading = { type: typeOfCustom[type], defaultJson, deviceTypes };
    const name = JSON.stringify(reading);
    const group = groups.get(name) ?? { reading, orgIds: [], partnerIds: [] };
    groups.set(name, group);
    if (orgId !== null) group.orgIds.push(orgId);
    else if (partnerId !== null) group.partnerIds.push(partnerId);
  }
  return [...groups.values()];
}

/** The default as values of the type are compared; undefined where it is none of the type. */
export function typedDefault({ type, defaultJson }: Reading): string | number | boolean | undefined {
  const value: unknown = defaultJson === null ? undefined : JSON.parse(defaultJson);
  if (type === "number") return numberOf(value);
  if (type === "boolean") return booleanOf(value);
  if (typeof value !== "string") return undefined;
  if (type === "string") return value;
  const moment = momentOf(value);
  return moment && new Date(moment.ms).toISOString();
}
