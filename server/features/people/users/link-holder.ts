import { type Caller, findOrg, outsideSites } from "#server/access/org-access";
import { user } from "#server/access/principal";
import type { Reader, Tx } from "#server/db/unit-of-work";
import { permissionsAboveCaller } from "#server/features/people/core/assignable-role";
import type { Call } from "#server/http/call";

interface Opened {
  roleId: string;
  partnerId: string;
  /** Null: a membership of the partner itself. */
  orgId: string | null;
  siteIds: string[] | null;
}

/**
 * Whether the caller may see this person's invitation link. Accepting opens every membership of the person, whoever
 * gave it, so the holder of the link could take all of them: each must be one that the caller could have given, of a
 * tenant it reaches and with neither permissions nor sites beyond its own.
 */
export async function mayHoldLink(call: Caller & Pick<Call, "asSystem">, tx: Tx, userId: string): Promise<boolean> {
  const opened = await call.asSystem("invite user", (all) => membershipsOf(all, userId));
  if (opened === undefined) return false;
  for (const membership of opened) {
    if (!(await reaches(call, tx, membership))) return false;
    const above = await call.asSystem("invite user", (all) => permissionsAboveCaller(call, all, membership.roleId));
    if (above.length > 0) return false;
  }
  return true;
}

async function reaches(call: Caller, tx: Tx, { partnerId, orgId, siteIds }: Opened): Promise<boolean> {
  const who = user(call);
  if (who.scope === "system") return true;
  if (orgId === null) return who.scope === "partner" && who.partnerId === partnerId && who.orgAccess === "all";
  const confined = siteIds?.length ? siteIds : [null];
  return !confined.some((siteId) => outsideSites(call, siteId)) && (await findOrg(call, orgId, tx)) !== undefined;
}

/**
 * Undefined for a platform administrator, whose membership is no row. A deleted organization gives access to no one.
 */
async function membershipsOf(db: Reader, userId: string): Promise<Opened[] | undefined> {
  const person = await db.selectFrom("users").select("isPlatformAdmin").where("id", "=", userId).executeTakeFirst();
  if (!person || person.isPlatformAdmin) return undefined;
  const asPartner = await db
    .selectFrom("partnerUsers")
    .select(["roleId", "partnerId"])
    .where("userId", "=", userId)
    .execute();
  const asOrganization = await db
    .selectFrom("organizationUsers")
    .innerJoin("organizations", "organizations.id", "organizationUsers.orgId")
    .select(["organizationUsers.roleId", "organizations.partnerId", "organizations.id as orgId"])
    .select("organizationUsers.siteIds")
    .where("organizationUsers.userId", "=", userId)
    .where("organizations.deletedAt", "is", null)
    .execute();
  return [...asPartner.map((row) => ({ ...row, orgId: null, siteIds: null })), ...asOrganization];
}
