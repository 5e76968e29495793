import type { DialectName } from "#server/db/dialect/index";
import { hasElement } from "#server/db/dialect/json";
import type { Tx } from "#server/db/unit-of-work";

export interface NamedField {
  readonly fieldKey: string;
  readonly owner: { readonly orgId: string } | { readonly partnerId: string };
}

/** The saved filters that name a custom field of an organization, or of a whole partner. */
export async function filtersNaming(tx: Tx, dialect: DialectName, { fieldKey, owner }: NamedField): Promise<string[]> {
  const naming = tx
    .selectFrom("savedFilters")
    .select("savedFilters.id")
    .where((eb) => hasElement(eb.ref("savedFilters.customKeys"), fieldKey, dialect));
  const rows = await ("orgId" in owner
    ? naming.where("savedFilters.orgId", "=", owner.orgId)
    : naming.where("savedFilters.orgId", "in", (eb) =>
        eb
          .selectFrom("organizations")
          .select("organizations.id")
          .where("organizations.partnerId", "=", owner.partnerId),
      )
  )
    .orderBy("savedFilters.id")
    .execute();
  return rows.map(({ id }) => id);
}
