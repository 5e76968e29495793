import type { Endpoint } from "#contract/core/endpoint";
import type { ssoProviders } from "#contract/resources/sign-in/sso-providers";
import { getNamedOrg, orgsInList } from "#server/access/org-access";
import { withOrgNames } from "#server/access/place-names";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { shownProvider } from "./view.ts";

type ListCall = typeof ssoProviders.list extends Endpoint<infer T> ? Call<T> : never;

/** Those of the organizations, or with `scope=partner` the partner's own; oldest first, as sign-in picks them. */
export async function listProviders(call: ListCall) {
  const query = call.db.selectFrom("ssoProviders").selectAll().orderBy("createdAt").orderBy("id");
  if (call.query.scope !== "partner") {
    const { orgId } = call.query;
    if (orgId !== undefined) await getNamedOrg(call, orgId);
    const rows = await query.where("orgId", "in", orgsInList(orgId)).execute();
    return { data: await withOrgNames(call.db, rows.map(shownProvider)) };
  }
  const { scope, partnerId } = user(call);
  if (scope !== "partner" || partnerId === null) throw problem("PARTNER_SCOPE_REQUIRED");
  const rows = await query.where("partnerId", "=", partnerId).where("orgId", "is", null).execute();
  return { data: rows.map(shownProvider) };
}
