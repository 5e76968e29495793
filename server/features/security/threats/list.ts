import type { Endpoint } from "#contract/core/endpoint";
import type { threats } from "#contract/resources/security/threats";
import { getNamedOrg } from "#server/access/org-access";
import type { Call } from "#server/http/call";
import { threatPage } from "./threat-page.ts";

type ListCall = typeof threats.list extends Endpoint<infer T> ? Call<T> : never;

/** Of devices in use, and what stayed of those that have left (docs/security.md, "Threats"). */
export async function listThreats(call: ListCall) {
  const { orgId } = call.query;
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  return threatPage(call, { orgId });
}
