import type { Selectable } from "kysely";
import type { CustomValue } from "#contract/resources/fleet/custom-fields";
import { ownerScopeOf } from "#server/access/owner-rule";
import { unseen } from "#server/access/site-access";
import type { CustomFieldsTable } from "#server/db/tables/fleet";
import type { Reader } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

export const fieldColumns = [
  "customFields.id",
  "customFields.orgId",
  "customFields.partnerId",
  "customFields.name",
  "customFields.fieldKey",
  "customFields.type",
  "customFields.options",
  "customFields.required",
  "customFields.defaultJson",
  "customFields.deviceTypes",
  "customFields.createdAt",
  "customFields.updatedAt",
] as const;

/** A definition as the API shows it. */
export function view({ defaultJson, ...row }: Selectable<CustomFieldsTable>) {
  const defaultValue = defaultJson === null ? null : (JSON.parse(defaultJson) as CustomValue);
  return { ...row, ownerScope: ownerScopeOf(row), defaultValue };
}

export type Field = ReturnType<typeof view>;

/** NOT_FOUND, also for another tenant's and for one of an organization that is gone. */
export async function getField(db: Reader, id: string): Promise<Field> {
  const row = await db.selectFrom("customFields").selectAll().where("id", "=", id).executeTakeFirst();
  if (!row) throw problem("NOT_FOUND");
  return view(row);
}

export interface Place {
  readonly orgId: string;
  readonly partnerId: string;
}

/** The fields of an organization's devices by their keys: its own, and those of its partner. */
export async function fieldsOf(db: Reader, { orgId, partnerId }: Place): Promise<ReadonlyMap<string, Field>> {
  const of = db.selectFrom("customFields").selectAll();
  const rows = await Promise.all([
    of.where("partnerId", "=", partnerId).where("orgId", "is", null).execute(),
    of.where("orgId", "=", orgId).execute(),
  ]);
  return new Map(rows.flat().map((row) => [row.fieldKey, view(row)]));
}

/** The device, if the caller reaches it (docs/conventions.md, "Site rule"). */
export async function getDevice(call: Pick<Call, "who" | "readAsSystem">, db: Reader, id: string) {
  const device = await db
    .selectFrom("devices")
    .select(["id", "orgId", "partnerId", "siteId", "hostname", "osType", "customFields"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (!device) throw await unseen(call, "devices", id);
  return device;
}
