import type { Endpoint } from "#contract/core/endpoint";
import type { devices } from "#contract/resources/fleet/devices";
import { getNamedOrg, visibleInLists } from "#server/access/org-access";
import { contains } from "#server/db/dialect/text";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

export type ListCall = typeof devices.list extends Endpoint<infer T> ? Call<T> : never;

/** The filters of `GET /devices`, alike in both modes; a named organization or site out of reach is 403. */
export async function filteredDevices(call: ListCall) {
  const orgIds = await namedOrgs(call);
  const siteIds = await namedSites(call);
  const { status, osType, role, search, groupIds } = call.query;
  let query = call.db.selectFrom("devices").innerJoin("organizations", "organizations.id", "devices.orgId");
  query = orgIds === undefined ? query.where(visibleInLists) : query.where("devices.orgId", "in", orgIds);
  if (siteIds !== undefined) query = query.where("devices.siteId", "in", siteIds);
  // Dropping the filter would show a whole fleet to who asked for a part: no device is in a group that does not exist.
  if (groupIds !== undefined && groupIds.length > 0) query = query.where((eb) => eb.lit(false));
  if (status !== undefined) query = query.where("devices.status", "=", status);
  else if (call.query.includeDecommissioned !== true) query = query.where("devices.status", "<>", "decommissioned");
  if (osType !== undefined) query = query.where("devices.osType", "=", osType);
  if (role !== undefined) query = query.where("devices.deviceRole", "=", role);
  if (search !== undefined && search !== "") {
    query = query.where((eb) =>
      eb.or([contains(eb.ref("devices.hostname"), search), contains(eb.ref("devices.displayName"), search)]),
    );
  }
  return query;
}

/**
 * What `orgId` and `orgIds` leave, each of them reachable; undefined without either. An organization that is named is
 * shown even where lists hide it.
 */
async function namedOrgs(call: ListCall): Promise<string[] | undefined> {
  const named = both(call.query.orgId, call.query.orgIds);
  for (const id of named?.all ?? []) await getNamedOrg(call, id);
  return named?.common;
}

async function namedSites(call: ListCall): Promise<string[] | undefined> {
  const named = both(call.query.siteId, call.query.siteIds);
  if (!named) return undefined;
  const seen = await call.db.selectFrom("sites").select("id").where("id", "in", named.all).execute();
  if (seen.length !== named.all.length) throw problem("SITE_ACCESS_DENIED");
  return named.common;
}

/** Every id that one of two filters names, and those that satisfy both. A blank list is no filter. */
function both(one: string | undefined, list: string[] | undefined) {
  const many = list === undefined || list.length === 0 ? undefined : [...new Set(list)];
  if (one === undefined) return many && { all: many, common: many };
  if (many === undefined) return { all: [one], common: [one] };
  return { all: [...new Set([one, ...many])], common: many.filter((id) => id === one) };
}
