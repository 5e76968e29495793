import { prepared } from "#server/db/prepared";
import type { Reader, Tx } from "#server/db/unit-of-work";
import { problem } from "#server/problem";

/** Every column but those of the wind-down's inner workings. */
export const organizationColumns = [
  "organizations.id",
  "organizations.partnerId",
  "organizations.name",
  "organizations.slug",
  "organizations.type",
  "organizations.status",
  "organizations.maxDevices",
  "organizations.settings",
  "organizations.ssoConfig",
  "organizations.contractStart",
  "organizations.contractEnd",
  "organizations.billingContact",
  "organizations.offboardingStartedAt",
  "organizations.archivedAt",
  "organizations.retentionMode",
  "organizations.purgeAt",
  "organizations.mergedIntoOrgId",
  "organizations.createdAt",
  "organizations.updatedAt",
  "organizations.deletedAt",
] as const;

/** NOT_FOUND, also for another tenant's organization. */
export async function getOrganization(db: Reader, id: string) {
  const row = await byId(db, { id });
  if (!row) throw problem("NOT_FOUND");
  return row;
}

const byId = prepared(["id"], (db, at) =>
  db.selectFrom("organizations").select(organizationColumns).where("id", "=", at.id),
);

export async function slugIsTaken(tx: Tx, partnerId: string, slug: string, exceptId?: string): Promise<boolean> {
  let query = tx.selectFrom("organizations").select("id").where("partnerId", "=", partnerId).where("slug", "=", slug);
  if (exceptId !== undefined) query = query.where("id", "<>", exceptId);
  return (await query.where("deletedAt", "is", null).executeTakeFirst()) !== undefined;
}
