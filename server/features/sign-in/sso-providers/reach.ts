import type { Endpoint } from "#contract/core/endpoint";
import type { ssoProviders } from "#contract/resources/sign-in/sso-providers";
import { getWritableOrg, orgForCreate, refuseSiteRestricted } from "#server/access/org-access";
import type { Reader } from "#server/db/unit-of-work";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import type { ProviderOwner, ProviderRow } from "./find-active-provider.ts";

type CreateCall = typeof ssoProviders.create extends Endpoint<infer T> ? Call<T> : never;

/** NOT_FOUND, also for another tenant's provider and for one of an organization that is gone. */
export async function findProvider(db: Reader, id: string): Promise<ProviderRow> {
  const row = await db
    .selectFrom("ssoProviders")
    .leftJoin("organizations", "organizations.id", "ssoProviders.orgId")
    .selectAll("ssoProviders")
    .select("organizations.id as liveOrgId")
    .where("ssoProviders.id", "=", id)
    .executeTakeFirst();
  if (!row) throw problem("NOT_FOUND");
  const { liveOrgId, ...provider } = row;
  if (provider.orgId !== null && liveOrgId === null) throw problem("NOT_FOUND");
  return provider;
}

/**
 * The provider, if this caller may change it; named in the audit entry (docs/single-sign-on.md, "Identity providers").
 */
export async function writableProvider(call: Call, id: string, db: Reader): Promise<ProviderRow> {
  refuseSiteRestricted(call);
  const provider = await findProvider(db, id);
  const { orgId, partnerId, name } = provider;
  call.audit.note({ resource: { id, name }, owner: orgId === null ? { partnerId } : { orgId } });
  if (orgId === null) refusePartial(call);
  else await getWritableOrg(call, orgId, db);
  return provider;
}

/** Whose a new provider is. A partner's takes a session of the partner with full access. */
export async function ownerForCreate(call: CreateCall, db: Reader): Promise<ProviderOwner & { partnerId: string }> {
  refuseSiteRestricted(call);
  if (call.body.ownerScope === "organization") {
    const org = await orgForCreate(call, call.body.orgId, db);
    call.audit.note({ owner: { orgId: org.id } });
    return { orgId: org.id, partnerId: org.partnerId };
  }
  const who = user(call);
  if (who.scope !== "partner" || who.partnerId === null) throw problem("PARTNER_SCOPE_REQUIRED");
  refusePartial(call);
  call.audit.note({ owner: { partnerId: who.partnerId } });
  return { partnerId: who.partnerId };
}

/** A provider of the whole partner takes full partner access (docs/conventions.md, "Full partner access"). */
function refusePartial(call: Pick<Call, "who">): void {
  const who = user(call);
  if (who.scope === "partner" && who.orgAccess !== "all") throw problem("FULL_PARTNER_ACCESS_REQUIRED");
}
