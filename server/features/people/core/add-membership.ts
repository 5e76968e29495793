import { chunks } from "#server/db/chunks";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";

/** What organizations or sites a member is confined to, once checked. */
export type MemberAccess =
  | { readonly orgAccess: "all" | "selected" | "none"; readonly orgIds: readonly string[] }
  | { readonly siteIds: string[] | null };

/** The tenant that gets a new member. */
export type MemberTarget =
  | { readonly kind: "partner"; readonly partnerId: string }
  | { readonly kind: "organization"; readonly orgId: string };

/** Makes the user a member of the target; answers the membership's id. */
export async function addMembership(
  call: Pick<Call, "clock" | "random">,
  tx: Tx,
  target: MemberTarget,
  member: { userId: string; roleId: string; access: MemberAccess },
): Promise<string> {
  const id = call.random.uuid();
  const now = call.clock.now();
  const row = { id, userId: member.userId, roleId: member.roleId, createdAt: now, updatedAt: now };
  if (target.kind === "organization" && "siteIds" in member.access) {
    const { siteIds } = member.access;
    await tx
      .insertInto("organizationUsers")
      .values({ ...row, orgId: target.orgId, siteIds })
      .execute();
    return id;
  }
  if (target.kind !== "partner" || !("orgAccess" in member.access)) throw new Error("access of another kind of member");
  const { orgAccess, orgIds } = member.access;
  const { partnerId } = target;
  await tx
    .insertInto("partnerUsers")
    .values({ ...row, partnerId, orgAccess })
    .execute();
  for (const ids of chunks(orgIds)) {
    const rows = ids.map((orgId) => ({ partnerId, membershipId: id, orgId }));
    await tx.insertInto("partnerUserOrgs").values(rows).execute();
  }
  return id;
}
