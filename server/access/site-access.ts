import type { SystemReason } from "#server/db/system-reasons";
import type { Reader } from "#server/db/unit-of-work";
import { type Problem, problem } from "#server/problem";
import { type Caller, outsideSites } from "./org-access.ts";

interface SystemReader {
  readAsSystem<R>(reason: SystemReason, work: (db: Reader) => Promise<R>): Promise<R>;
}

/**
 * The error for a row that the caller does not see: 403 if it belongs to another site of the caller's organization,
 * else 404 (docs/conventions.md, "Site rule"). To `throw`.
 */
export async function unseen(
  call: Pick<Caller, "who"> & SystemReader,
  table: "devices" | "enrollmentKeys" | "deviceGroups" | "pamRules",
  id: string,
): Promise<Problem> {
  const { who } = call;
  if (who.kind !== "user" || who.allowedSiteIds === null) return problem("NOT_FOUND");
  const row = await call.readAsSystem("answer for another site", (db) =>
    db
      .selectFrom(table as "devices")
      .select("id")
      .where("id", "=", id)
      .where("orgId", "=", who.orgId)
      .executeTakeFirst(),
  );
  return problem(row ? "SITE_ACCESS_DENIED" : "NOT_FOUND");
}

/**
 * Refuses a site that a row of this organization cannot have: for callers confined to sites every other site and null
 * (the whole organization), for others a site of another organization.
 */
export async function refuseForeignSite(
  call: Pick<Caller, "who">,
  db: Reader,
  place: { orgId: string; siteId: string | null; code: "SITE_NOT_IN_ORG" | "site-not-in-org" },
): Promise<void> {
  if (outsideSites(call, place.siteId)) throw problem("SITE_ACCESS_DENIED");
  if (place.siteId === null) return;
  const site = await db
    .selectFrom("sites")
    .select("id")
    .where("id", "=", place.siteId)
    .where("orgId", "=", place.orgId)
    .executeTakeFirst();
  if (!site) throw problem(place.code);
}
