import type { Reader } from "#server/db/unit-of-work";
import { problem } from "#server/problem";

export const partnerColumns = [
  "id",
  "name",
  "slug",
  "type",
  "plan",
  "status",
  "maxOrganizations",
  "maxDevices",
  "settings",
  "ssoConfig",
  "billingEmail",
  "serviceManagementMode",
  "serviceManagementPsaConnectionId",
  "createdAt",
  "updatedAt",
  "deletedAt",
] as const;

/** NOT_FOUND also for a deleted partner. */
export async function getPartner(db: Reader, id: string) {
  const row = await db.selectFrom("partners").select(partnerColumns).where("id", "=", id).executeTakeFirst();
  if (!row) throw problem("NOT_FOUND");
  return row;
}
