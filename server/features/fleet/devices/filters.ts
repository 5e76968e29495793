import { expressionBuilder, type Kysely } from "kysely";
import type { Endpoint } from "#contract/core/endpoint";
import type { devices } from "#contract/resources/fleet/devices";
import { getNamedOrg, isOfOrgInLists, orgsInList } from "#server/access/org-access";
import { isLongEnough, nameSearch } from "#server/db/dialect/device-names";
import { among, amongFound, withIds } from "#server/db/dialect/json";
import { containsPattern, isLike, word } from "#server/db/dialect/text";
import { namedIds } from "#server/db/named-devices";
import type { Database } from "#server/db/tables";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

export type ListCall = typeof devices.list extends Endpoint<infer T> ? Call<T> : never;

/** What a list of devices is narrowed to. A type of its own, so that it fits `Given`. */
export type Asked = {
  /** Set where no organization is named: all that this partner reaches, in the order of its indexes. */
  partnerId: string | undefined;
  /** One organization, or several. */
  orgId: string | undefined;
  orgIds: string[] | undefined;
  siteIds: string[] | undefined;
  /** In one of these groups. */
  groupIds: string[] | undefined;
  status: string | undefined;
  osType: string | undefined;
  role: string | undefined;
  /** What names contain, as a pattern, or the devices whose names contain it where these are few. */
  pattern: string | undefined;
  named: string[] | undefined;
  decommissioned: boolean;
  nothing: boolean;
};

/** The filters of `GET /devices`, alike in both modes; a named organization or site out of reach is 403. */
export async function askedOf(call: ListCall): Promise<Asked> {
  const { status, osType, role, search, groupIds, includeDecommissioned } = call.query;
  const orgIds = await namedOrgs(call);
  const siteIds = await namedSites(call);
  const named = search ? await namedSo(call, search) : undefined;
  return {
    partnerId: orgIds === undefined && call.scope.kind === "partner" ? call.scope.partnerId : undefined,
    ...(orgIds?.length === 1 ? { orgId: orgIds[0], orgIds: undefined } : { orgId: undefined, orgIds }),
    siteIds,
    groupIds: groupIds === undefined || groupIds.length === 0 ? undefined : groupIds,
    status,
    osType,
    role,
    pattern: search && named === undefined ? containsPattern(search) : undefined,
    named,
    decommissioned: includeDecommissioned === true,
    nothing: orgIds?.length === 0 || siteIds?.length === 0,
  };
}

/** Of more, a page is soon met row by row. */
const NAMED_MAX = 1_000;

/** The devices that the index of names gives, if it takes the text and they are few. */
async function namedSo({ db, scope }: ListCall, search: string): Promise<string[] | undefined> {
  if (!isLongEnough(search)) return undefined;
  const ids = await namedIds(db, nameSearch(search, scope, ["hostname", "displayName"]), NAMED_MAX);
  return ids.length < NAMED_MAX ? ids : undefined;
}

/** Devices alone, narrowed: what orders and filters them stands in one index (migration "fleet device lists"). */
export function filteredDevices(db: Kysely<Database>, asked: Asked) {
  const { partnerId, orgId, orgIds, siteIds, groupIds, status, osType, role, pattern, named } = asked;
  let query = named === undefined ? db.selectFrom("devices") : withIds(db, "devices", named);
  if (orgId !== undefined) query = query.where("devices.orgId", "=", orgId);
  else if (orgIds !== undefined) query = query.where((eb) => among(db, eb.ref("devices.orgId"), orgIds));
  else if (partnerId !== undefined) query = query.where("devices.partnerId", "=", partnerId).where(isOfOrgInLists);
  else query = query.where("devices.orgId", "in", orgsInList(undefined));
  if (siteIds !== undefined) query = query.where((eb) => among(db, eb.ref("devices.siteId"), siteIds));
  if (groupIds !== undefined)
    query = query.where((eb) => amongFound(db, eb.ref("devices.id"), membersOf(db, groupIds)));
  if (asked.nothing) query = query.where((eb) => eb.lit(false));
  if (status !== undefined) query = query.where("devices.status", "=", status as "online");
  else if (!asked.decommissioned) query = query.where("devices.status", "<>", word("decommissioned"));
  if (osType !== undefined) query = query.where("devices.osType", "=", osType as "linux");
  if (role !== undefined) query = query.where("devices.deviceRole", "=", role as "server");
  if (pattern !== undefined) {
    query = query.where((eb) =>
      eb.or([isLike(eb.ref("devices.hostnameKey"), pattern), isLike(eb.ref("devices.displayKey"), pattern)]),
    );
  }
  return query;
}

/** Of groups that the caller sees; of others, as of those that do not exist, nobody is a member. */
const membersOf = (db: Kysely<Database>, groupIds: readonly string[]) =>
  expressionBuilder<Database, never>()
    .selectFrom("deviceGroupMembers")
    .innerJoin("deviceGroups", "deviceGroups.id", "deviceGroupMembers.groupId")
    .select("deviceGroupMembers.deviceId")
    .where((eb) => among(db, eb.ref("deviceGroups.id"), groupIds));

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
