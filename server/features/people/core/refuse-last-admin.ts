import { builtInRoleId } from "#server/access/roles";
import { lockRow } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

/**
 * Refuses what would leave a partner without an active administrator who accepted (docs/people.md, "Last
 * administrator"). The lock makes two administrators who leave at the same moment take turns.
 */
export async function refuseLastAdmin(
  call: Pick<Call, "services">,
  tx: Tx,
  { partnerId, membershipId }: { partnerId: string; membershipId: string },
): Promise<void> {
  await lockRow(tx, call.services.store.dialect, "partners", partnerId);
  const admins = await tx
    .selectFrom("partnerUsers")
    .innerJoin("users", "users.id", "partnerUsers.userId")
    .where("partnerUsers.partnerId", "=", partnerId)
    .where("partnerUsers.roleId", "=", builtInRoleId("Partner Admin"))
    .where("partnerUsers.orgAccess", "=", "all")
    .where("partnerUsers.acceptedAt", "is not", null)
    .where("users.status", "=", "active")
    .select("partnerUsers.id")
    .execute();
  const others = admins.filter(({ id }) => id !== membershipId);
  if (others.length === 0 && admins.length > 0) throw problem("LAST_ADMIN");
}
