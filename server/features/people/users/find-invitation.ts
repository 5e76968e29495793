import type { Reader } from "#server/db/unit-of-work";
import { findUserToken, type UserToken } from "#server/features/sign-in/core/user-tokens";
import type { Invitation } from "./invitation.ts";

export interface OpenInvitation {
  token: UserToken;
  user: { id: string; email: string; name: string; status: "invited" | "active" | "disabled" };
  tenant: { partnerName: string; orgName?: string };
}

/**
 * The invitation behind a token: undefined when there never was one, its membership was removed meanwhile,
 * or its tenant is deleted. Whether it is used or expired is for the caller to look at. Needs an unscoped handle.
 */
export async function findInvitation(db: Reader, plaintext: string): Promise<OpenInvitation | undefined> {
  const token = await findUserToken(db, "invite", plaintext);
  if (!token) return undefined;
  const user = await db
    .selectFrom("users")
    .select(["id", "email", "name", "status"])
    .where("id", "=", token.userId)
    .executeTakeFirst();
  const { kind, membershipId } = token.data as unknown as Invitation;
  const tenant = kind === "partner" ? await ofPartner(db, membershipId) : await ofOrganization(db, membershipId);
  return user && tenant && { token, user, tenant };
}

const ofPartner = (db: Reader, membershipId: string) =>
  db
    .selectFrom("partnerUsers")
    .innerJoin("partners", "partners.id", "partnerUsers.partnerId")
    .where("partnerUsers.id", "=", membershipId)
    .where("partners.deletedAt", "is", null)
    .select("partners.name as partnerName")
    .executeTakeFirst();

const ofOrganization = (db: Reader, membershipId: string) =>
  db
    .selectFrom("organizationUsers")
    .innerJoin("organizations", "organizations.id", "organizationUsers.orgId")
    .innerJoin("partners", "partners.id", "organizations.partnerId")
    .where("organizationUsers.id", "=", membershipId)
    .where("organizations.deletedAt", "is", null)
    .select(["partners.name as partnerName", "organizations.name as orgName"])
    .executeTakeFirst();
