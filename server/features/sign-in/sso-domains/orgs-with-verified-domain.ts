import type { Reader } from "#server/db/unit-of-work";

/** Organizations that have proven this domain to be theirs. Needs an unscoped handle. */
export async function orgsWithVerifiedDomain(db: Reader, domain: string): Promise<string[]> {
  const rows = await db
    .selectFrom("ssoDomains")
    .innerJoin("organizations", "organizations.id", "ssoDomains.orgId")
    .where("ssoDomains.domain", "=", domain)
    .where("ssoDomains.verifiedAt", "is not", null)
    .where("organizations.deletedAt", "is", null)
    .select("ssoDomains.orgId")
    .execute();
  return rows.map((row) => row.orgId);
}
