import type { Selectable } from "kysely";
import type { SsoProvidersTable } from "#server/db/tables/sign-in";
import type { Reader } from "#server/db/unit-of-work";

export type ProviderRow = Selectable<SsoProvidersTable>;

export type ProviderOwner = { readonly orgId: string } | { readonly partnerId: string };

/**
 * The provider that signs this owner's people in: the oldest active one that can, so that an older SAML provider hides no
 * OpenID Connect provider that enforces; an owner that was deleted has none. Needs a handle that reaches the owner.
 */
export function findActiveProvider(db: Reader, owner: ProviderOwner): Promise<ProviderRow | undefined> {
  const active = db
    .selectFrom("ssoProviders")
    .selectAll("ssoProviders")
    .where("ssoProviders.status", "=", "active")
    .orderBy((eb) => eb.case().when("ssoProviders.type", "=", "oidc").then(0).else(1).end())
    .orderBy("ssoProviders.createdAt")
    .orderBy("ssoProviders.id")
    .limit(1);
  if ("orgId" in owner)
    return active
      .innerJoin("organizations", "organizations.id", "ssoProviders.orgId")
      .where("organizations.deletedAt", "is", null)
      .where("organizations.id", "=", owner.orgId)
      .executeTakeFirst();
  return active
    .innerJoin("partners", "partners.id", "ssoProviders.partnerId")
    .where("partners.deletedAt", "is", null)
    .where("partners.id", "=", owner.partnerId)
    .executeTakeFirst();
}
