import { outsideSites } from "#server/access/org-access";
import { chunks } from "#server/db/chunks";
import type { Tx } from "#server/db/unit-of-work";
import type { MemberAccess, MemberTarget } from "#server/features/people/core/add-membership";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import type { AccessFields } from "./rules.ts";

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
