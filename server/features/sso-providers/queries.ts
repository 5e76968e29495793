import type { Selectable } from "kysely";
import type { SsoProvidersTable } from "#server/db/tables/sso";
import type { Reader } from "#server/db/unit-of-work";

export type ProviderRow = Selectable<SsoProvidersTable>;

export type ProviderOwner = { readonly orgId: string } | { readonly partnerId: string };

/** The provider that signs this owner's people in: the oldest active one. Needs a handle that reaches the owner. */
export async function findActiveProvider(
  db: Reader,
  owner: ProviderOwner,
  type?: ProviderRow["type"],
): Promise<ProviderRow | undefined> {
  let query = db.selectFrom("ssoProviders").selectAll().where("status", "=", "active");
  query = "orgId" in owner ? query.where("orgId", "=", owner.orgId) : query.where("partnerId", "=", owner.partnerId);
  if (type !== undefined) query = query.where("type", "=", type);
  return query.orderBy("createdAt").orderBy("id").limit(1).executeTakeFirst();
}
