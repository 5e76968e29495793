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

/** Who invites, and what they wrote: all that their tenant is shown of the person until it is accepted. */
export interface Invitation {
  readonly by: string;
  readonly name: string;
  readonly email: string;
}

interface NewMember {
  userId: string;
  roleId: string;
  access: MemberAccess;
  /** With one the membership waits for its person; without it counts at once. */
  invitation?: Invitation;
}

/** Gives the user a membership of the target; answers its id. */
export async function addMembership(
  call: Pick<Call, "clock" | "random">,
  tx: Tx,
  target: MemberTarget,
  { userId, roleId, access, invitation }: NewMember,
): Promise<string> {
  const id = call.random.uuid();
  const now = call.clock.now();
  const row = {
    ...{ id, userId, roleId, createdAt: now, updatedAt: now },
    acceptedAt: invitation ? null : now,
    invitedBy: invitation?.by ?? null,
    invitedName: invitation?.name ?? null,
    invitedEmail: invitation?.email ?? null,
  };
  if (target.kind === "organization" && "siteIds" in access) {
    const { siteIds } = access;
    await tx
      .insertInto("organizationUsers")
      .values({ ...row, orgId: target.orgId, siteIds })
      .execute();
    return id;
  }
  if (target.kind !== "partner" || !("orgAccess" in access)) throw new Error("access of another kind of member");
  const { orgAccess, orgIds } = access;
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
