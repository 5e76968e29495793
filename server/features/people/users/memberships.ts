import { outsideSites } from "#server/access/org-access";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import type { AccessFields } from "./rules.ts";

/** What organizations or sites a member is confined to, once checked. */
export type MemberAccess =
  | { readonly orgAccess: "all" | "selected" | "none"; readonly orgIds: readonly string[] }
  | { readonly siteIds: string[] | null };

/**
 * Checks that every organization named is one the caller reaches, every site is one of the organization,
 * and that a caller confined to sites gives no wider access than its own.
 */
export async function checkAccess(
  call: Pick<Call, "who">,
  tx: Tx,
  target: MemberTarget,
  fields: AccessFields,
): Promise<MemberAccess> {
  if (target.kind === "partner") {
    const orgIds = [...new Set(fields.orgIds ?? [])];
    await refuseUnreachable(tx, target.partnerId, orgIds);
    return { orgAccess: fields.orgAccess ?? "none", orgIds };
  }
  const siteIds = fields.siteIds?.length ? [...new Set(fields.siteIds)] : null;
  for (const siteId of siteIds ?? [null]) if (outsideSites(call, siteId)) throw problem("SITE_ACCESS_DENIED");
  await refuseForeignSites(tx, target.orgId, siteIds ?? []);
  return { siteIds };
}

async function refuseUnreachable(tx: Tx, partnerId: string, orgIds: string[]): Promise<void> {
  for (const ids of chunks(orgIds)) {
    const found = await tx
      .selectFrom("organizations")
      .select("id")
      .where("partnerId", "=", partnerId)
      .where("id", "in", ids)
      .execute();
    if (found.length !== ids.length) throw problem("ORG_ACCESS_DENIED");
  }
}

async function refuseForeignSites(tx: Tx, orgId: string, siteIds: string[]): Promise<void> {
  for (const ids of chunks(siteIds)) {
    const found = await tx.selectFrom("sites").select("id").where("orgId", "=", orgId).where("id", "in", ids).execute();
    if (found.length !== ids.length) throw problem("SITE_NOT_IN_ORG");
  }
}

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
  for (const ids of chunks([...orgIds])) {
    const rows = ids.map((orgId) => ({ partnerId, membershipId: id, orgId }));
    await tx.insertInto("partnerUserOrgs").values(rows).execute();
  }
  return id;
}

const CHUNK = 500;

/** Databases limit how many parameters a statement takes. */
function chunks(ids: string[]): string[][] {
  const parts: string[][] = [];
  for (let at = 0; at < ids.length; at += CHUNK) parts.push(ids.slice(at, at + CHUNK));
  return parts;
}
