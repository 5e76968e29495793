import type { CustomValue } from "#contract/resources/fleet/custom-fields";
import type { Reader } from "#server/db/unit-of-work";
import { type ExportCall, exportPage } from "./export.ts";
import { type FeedEntry, idsOf } from "./feed.ts";

export const exportFields = (call: ExportCall) => exportPage(call, "custom-fields", fieldsOf);

export const exportValues = (call: ExportCall) => exportPage(call, "custom-field-values", valuesOf);

async function fieldsOf(db: Reader, entries: readonly FeedEntry[]) {
  const rows = await db
    .selectFrom("customFields")
    .select(["id", "orgId", "name", "fieldKey", "type", "options", "required", "defaultJson", "deviceTypes"])
    .where("id", "in", idsOf(entries))
    .execute();
  return new Map(
    rows.map(({ id, defaultJson, ...row }) => {
      const defaultValue = defaultJson === null ? null : (JSON.parse(defaultJson) as CustomValue);
      return [id, { ...row, defaultValue }];
    }),
  );
}

/** Values that devices have of their own; defaults stand in the fields. */
async function valuesOf(db: Reader, entries: readonly FeedEntry[]) {
  const rows = await db
    .selectFrom("exportRows")
    .innerJoin("devices", "devices.id", "exportRows.deviceId")
    .innerJoin("customFields", "customFields.id", "exportRows.fieldId")
    .select([
      "exportRows.id",
      "devices.id as deviceId",
      "devices.customFields",
      "customFields.id as definitionId",
      "customFields.fieldKey",
      "customFields.type",
    ])
    .where("exportRows.kind", "=", "custom_field_value")
    .where("exportRows.id", "in", idsOf(entries))
    .execute();
  return new Map(
    rows.flatMap(({ id, customFields, ...row }) => {
      const value = customFields[row.fieldKey] as CustomValue | undefined;
      return value === undefined ? [] : [[id, { ...row, value }] as const];
    }),
  );
}
