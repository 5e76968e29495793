import type { DialectName } from "#server/db/dialect/index";
import { hasElement } from "#server/db/dialect/json";
import type { Tx } from "#server/db/unit-of-work";

interface NamedField {
  readonly fieldKey: string;
  readonly owner: { readonly orgId: string } | { readonly partnerId: string };
}

/** The groups whose conditions name a custom field of an organization, or of a whole partner. */
export async function groupsNaming(tx: Tx, dialect: DialectName, { fieldKey, owner }: NamedField): Promise<string[]> {
  const naming = tx
    .selectFrom("deviceGroups")
    .select("deviceGroups.id")
    .where((eb) => hasElement(eb.ref("deviceGroups.filterFieldsUsed"), `custom.${fieldKey}`, dialect));
  const rows = await ("orgId" in owner
    ? naming.where("deviceGroups.orgId", "=", owner.orgId)
    : naming.where("deviceGroups.orgId", "in", (eb) =>
        eb
          .selectFrom("organizations")
          .select("organizations.id")
          .where("organizations.partnerId", "=", owner.partnerId),
      )
  )
    .orderBy("deviceGroups.id")
    .execute();
  return rows.map(({ id }) => id);
}
