import type { Tx } from "#server/db/unit-of-work";
import { problem } from "#server/problem";

/** Keeps the order in which a partner wants its organizations; answers the partner's name. Call it under its lock. */
export async function storeOrganizationOrder(
  tx: Tx,
  partnerId: string,
  organizationOrder: readonly string[],
  now: string,
): Promise<string> {
  const partner = await tx
    .selectFrom("partners")
    .select(["settings", "name"])
    .where("id", "=", partnerId)
    .executeTakeFirst();
  if (!partner) throw problem("NOT_FOUND");
  await tx
    .updateTable("partners")
    .set({ settings: { ...partner.settings, organizationOrder }, updatedAt: now })
    .where("id", "=", partnerId)
    .execute();
  return partner.name;
}
