import type { FilterGroup } from "#contract/core/filters/condition";
import { fieldsUsed } from "#contract/core/filters/condition";
import { type CustomFieldType, customKeyOf } from "#contract/core/filters/fields";
import type { Reader } from "#server/db/unit-of-work";

/** What the definition of a custom field says to filters; of an organization, or of a partner where `orgId` is null. */
export interface Definition {
  readonly orgId: string | null;
  readonly partnerId: string | null;
  readonly fieldKey: string;
  readonly type: CustomFieldType;
  readonly defaultJson: string | null;
  readonly deviceTypes: readonly string[] | null;
}

/** All definitions within reach of the custom fields that a filter names; with `orgId` those of its devices. */
export async function definitionsFor(db: Reader, filter: FilterGroup, orgId?: string): Promise<readonly Definition[]> {
  const keys = [...fieldsUsed(filter)].flatMap((field) => customKeyOf(field) ?? []);
  if (keys.length === 0) return [];
  let query = db
    .selectFrom("customFields")
    .select(["orgId", "partnerId", "fieldKey", "type", "defaultJson", "deviceTypes"])
    .where("fieldKey", "in", keys);
  if (orgId !== undefined)
    query = query.where((eb) =>
      eb.or([
        eb("customFields.orgId", "=", orgId),
        eb(
          "customFields.partnerId",
          "in",
          eb.selectFrom("organizations").select("organizations.partnerId").where("organizations.id", "=", orgId),
        ),
      ]),
    );
  return query.execute();
}
