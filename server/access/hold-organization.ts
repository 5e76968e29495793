import { shared } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { Services } from "#server/services";

/**
 * How an organization stands, which stays so until the commit: whoever ends it waits for the device or the command that
 * is made here, and then ends that too (docs/tenancy.md, "Winding down an organization"). Hold it before a device.
 */
export function holdOrganization(tx: Tx, { store }: Pick<Services, "store">, orgId: string) {
  const row = tx.selectFrom("organizations").select(["status as orgStatus", "deletedAt as orgDeletedAt"]);
  return shared(row.where("id", "=", orgId), store.dialect).executeTakeFirst();
}
