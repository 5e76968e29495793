import type { Endpoint } from "#contract/core/endpoint";
import { type deviceGroups, GROUPS_SHOWN, MEMBERS_SHOWN } from "#contract/resources/fleet/device-groups";
import { getNamedOrg, orgsInList } from "#server/access/org-access";
import { withOrgNames } from "#server/access/place-names";
import { among } from "#server/db/dialect/json";
import { containsPattern, isLike } from "#server/db/dialect/text";
import { preparedPage } from "#server/db/paginate";
import { preparedRows } from "#server/db/prepared";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { countsOf, groupColumns } from "./queries.ts";

type ListCall = typeof deviceGroups.list extends Endpoint<infer T> ? Call<T> : never;

/** By name; the total counts those that are not shown too (docs/device-groups.md, "Groups"). */
export async function listGroups(call: ListCall) {
  const { orgId, siteId, type, parentId, search, includeMemberships } = call.query;
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  if (siteId !== undefined) await refuseUnseenSite(call, siteId);
  const pattern = search ? containsPattern(search) : undefined;
  const asked = { orgId, siteId, type, parentId, pattern };
  const { data, pagination } = await pageOf(call.db, { page: 1, limit: GROUPS_SHOWN }, asked, null);
  const ids = data.map(({ id }) => id);
  const counts = await countsOf(call.db, ids);
  const members = includeMemberships && orgId !== undefined ? await membersOf(call, orgId, ids) : undefined;
  const named = await withOrgNames(call.db, data);
  return {
    data: named.map((group) => ({
      ...group,
      deviceCount: counts.get(group.id) ?? 0,
      ...(members ? { deviceIds: members.get(group.id) ?? [] } : {}),
    })),
    total: pagination.total,
  };
}

async function refuseUnseenSite(call: ListCall, id: string): Promise<void> {
  if (!(await call.db.selectFrom("sites").select("id").where("id", "=", id).executeTakeFirst()))
    throw problem("SITE_ACCESS_DENIED");
}

type Asked = { orgId: string | undefined; pattern: string | undefined } & Pick<
  ListCall["query"],
  "siteId" | "type" | "parentId"
>;

const pageOf = preparedPage((db, { orgId, siteId, type, parentId, pattern }: Asked) => {
  let query = db.selectFrom("deviceGroups").select(groupColumns);
  query = query.where("deviceGroups.orgId", "in", orgsInList(orgId));
  if (siteId !== undefined) query = query.where("deviceGroups.siteId", "=", siteId);
  if (type !== undefined) query = query.where("deviceGroups.type", "=", type);
  if (parentId !== undefined) query = query.where("deviceGroups.parentId", "=", parentId);
  if (pattern !== undefined) query = query.where((eb) => isLike(eb.ref("deviceGroups.nameKey"), pattern));
  return query.orderBy("deviceGroups.nameKey").orderBy("deviceGroups.id");
});

async function membersOf(call: ListCall, orgId: string, ids: string[]): Promise<ReadonlyMap<string, string[]>> {
  const members = new Map<string, string[]>();
  if (ids.length === 0) return members;
  for (const { groupId, deviceId } of await memberIds(call.db, { orgId, ids }, null)) {
    const known = members.get(groupId);
    if (known) known.push(deviceId);
    else members.set(groupId, [deviceId]);
  }
  return members;
}

const memberIds = preparedRows((db, { orgId, ids }: { orgId: string; ids: string[] }) =>
  db
    .selectFrom("deviceGroupMembers")
    .select(["groupId", "deviceId"])
    .where("orgId", "=", orgId)
    .where((eb) => among(db, eb.ref("groupId"), ids))
    .orderBy("groupId")
    .orderBy("deviceId")
    .limit((eb) => eb.lit(MEMBERS_SHOWN)),
);
