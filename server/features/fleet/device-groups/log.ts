import type { Endpoint } from "#contract/core/endpoint";
import type { deviceGroups } from "#contract/resources/fleet/device-groups";
import { preparedPage } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { getGroup } from "./queries.ts";

type LogCall = typeof deviceGroups.log extends Endpoint<infer T> ? Call<T> : never;

/** Who joined and left, newest first (docs/device-groups.md, "Membership log"). */
export async function listLog(call: LogCall) {
  const { id: groupId, orgId } = await getGroup(call, call.db, call.params.id);
  const { deviceId, action } = call.query;
  return pageOf(call.db, call.query, { orgId, groupId, deviceId, action }, null);
}

type Asked = { orgId: string; groupId: string } & Pick<LogCall["query"], "deviceId" | "action">;

const pageOf = preparedPage((db, { orgId, groupId, deviceId, action }: Asked) => {
  let query = db
    .selectFrom("deviceGroupLog")
    .select(["id", "groupId", "deviceId", "hostname", "displayName", "action", "reason", "createdAt"])
    .where("orgId", "=", orgId)
    .where("groupId", "=", groupId);
  if (deviceId !== undefined) query = query.where("deviceId", "=", deviceId);
  if (action !== undefined) query = query.where("action", "=", action);
  return query.orderBy("createdAt", "desc").orderBy("id", "desc");
});
