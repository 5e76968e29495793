import type { Reader } from "#server/db/unit-of-work";
import { after, DAY } from "#server/platform/clock";
import { domainOf } from "./domain-of.ts";

/** A record that was not seen for longer proves nothing until it is seen again. */
const SEEN_MS = 7 * DAY;

/**
 * The organization whose domain an address has: the only one that has proven it, and whose record was there within the
 * last week (docs/people.md, "Proven addresses"). Needs an unscoped handle.
 */
export async function ownerOfDomain(db: Reader, email: string, now: string): Promise<string | undefined> {
  const rows = await db
    .selectFrom("ssoDomains")
    .innerJoin("organizations", "organizations.id", "ssoDomains.orgId")
    .where("ssoDomains.domain", "=", domainOf(email))
    .where("ssoDomains.verifiedAt", "is not", null)
    .where("organizations.deletedAt", "is", null)
    .select(["ssoDomains.orgId", "ssoDomains.seenAt"])
    .execute();
  const [only] = rows;
  const isFresh = only?.seenAt != null && only.seenAt > after(now, -SEEN_MS);
  return rows.length === 1 && isFresh ? only.orgId : undefined;
}
