import { unseen } from "#server/access/site-access";
import type { Reader } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";

/** Every column but the hashes, which are never returned. */
export const enrollmentKeyColumns = [
  "enrollmentKeys.id",
  "enrollmentKeys.orgId",
  "enrollmentKeys.siteId",
  "enrollmentKeys.name",
  "enrollmentKeys.maxUsage",
  "enrollmentKeys.usageCount",
  "enrollmentKeys.expiresAt",
  "enrollmentKeys.createdBy",
  "enrollmentKeys.createdByPrincipalId",
  "enrollmentKeys.keyIssuedAt",
  "enrollmentKeys.createdAt",
  "enrollmentKeys.updatedAt",
] as const;

/** NOT_FOUND, also for another tenant's key; SITE_ACCESS_DENIED for one outside the caller's sites. */
export async function getEnrollmentKey(call: Pick<Call, "who" | "readAsSystem">, db: Reader, id: string) {
  const row = await db
    .selectFrom("enrollmentKeys")
    .innerJoin("organizations", "organizations.id", "enrollmentKeys.orgId")
    .select(enrollmentKeyColumns)
    .where("enrollmentKeys.id", "=", id)
    .executeTakeFirst();
  if (!row) throw await unseen(call, "enrollmentKeys", id);
  return row;
}
