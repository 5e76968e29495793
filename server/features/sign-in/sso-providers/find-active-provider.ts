import type { Selectable } from "kysely";
import type { SsoProvidersTable } from "#server/db/tables/sign-in";
import type { Reader } from "#server/db/unit-of-work";

export type ProviderRow = Selectable<SsoProvidersTable>;

export type ProviderOwner = { readonly orgId: string } | { readonly partnerId: string };

/**
 * The provider that signs this owner's people in: the oldest active one. Where passwords are refused an older SAML
 * provider, which signs no one in, stands aside: no one could sign in at all. An owner that was deleted has none. Needs a
 * handle that reaches the owner.
 */
export async function findActiveProvider(db: Reader, owner: ProviderOwner): Promise<ProviderRow | undefined> {
  const active = await activeProviders(db, owner);
  const enforced = active.some(({ type, enforceSso }) => type === "oidc" && enforceSso);
  return enforced ? active.find(({ type }) => type === "oidc") : active[0];
}

function activeProviders(db: Reader, owner: ProviderOwner): Promise<ProviderRow[]> {
  const active = db
    .selectFrom("ssoProviders")
    .selectAll("ssoProviders")
    .where("ssoProviders.status", "=", "active")
    .orderBy("ssoProviders.createdAt")
    .orderBy("ssoProviders.id");
  if ("orgId" in owner)
    return active
      .innerJoin("organizations", "organizations.id", "ssoProviders.orgId")
      .where("organizations.deletedAt", "is", null)
      .where("organizations.id", "=", owner.orgId)
      .execute();
  return active
    .innerJoin("partners", "partners.id", "ssoProviders.partnerId")
    .where("partners.deletedAt", "is", null)
    .where("partners.id", "=", owner.partnerId)
    .execute();
}
