import { type AccessibleOrg, type Caller, getWritableOrg } from "#server/access/org-access";
import { user } from "#server/access/principal";
import { prepared } from "#server/db/prepared";
import type { Reader, Tx } from "#server/db/unit-of-work";
import { problem } from "#server/problem";

export const siteColumns = [
  "sites.id",
  "sites.orgId",
  "sites.name",
  "sites.address",
  "sites.timezone",
  "sites.contact",
  "sites.settings",
  "sites.createdAt",
  "sites.updatedAt",
] as const;

/**
 * A site out of reach is 403 whether it exists or not, so that the answer reveals nothing about other tenants; in
 * system scope, which reaches every site, it is 404 (docs/conventions.md, "Foreign ids"). The join leaves out sites of
 * deleted organizations.
 */
export async function getSite(call: Pick<Caller, "who">, db: Reader, id: string) {
  const row = await byId(db, { id });
  if (!row) throw siteOutOfReach(call);
  return row;
}

const byId = prepared(["id"], (db, at) =>
  db
    .selectFrom("sites")
    .innerJoin("organizations", "organizations.id", "sites.orgId")
    .select(siteColumns)
    .where("sites.id", "=", at.id),
);

export const siteOutOfReach = (call: Pick<Caller, "who">) =>
  problem(user(call).scope === "system" ? "NOT_FOUND" : "SITE_ACCESS_DENIED");

/** The site and its organization, which is not being wound down. */
export async function getWritableSite(call: Caller, tx: Tx, id: string) {
  const site = await getSite(call, tx, id);
  const org: AccessibleOrg = await getWritableOrg(call, site.orgId, tx);
  return { site, org };
}
