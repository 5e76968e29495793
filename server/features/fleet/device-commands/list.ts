import type { Endpoint } from "#contract/core/endpoint";
import type { deviceCommands } from "#contract/resources/fleet/device-commands";
import { preparedPage } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { commandColumns, commandView } from "./command-view.ts";
import { getTarget } from "./get-target.ts";

type ListCall = typeof deviceCommands.list extends Endpoint<infer T> ? Call<T> : never;

/** Newest first. */
export async function listCommands(call: ListCall) {
  const { id: deviceId, orgId } = await getTarget(call, call.db, call.params.id);
  const { status, type } = call.query;
  const page = await pageOf(call.db, call.query, { orgId, deviceId, status, type }, null);
  return { ...page, data: page.data.map(commandView) };
}

type Asked = { orgId: string; deviceId: string } & Pick<ListCall["query"], "status" | "type">;

const pageOf = preparedPage((db, { orgId, deviceId, status, type }: Asked) => {
  let query = db
    .selectFrom("deviceCommands")
    .select(commandColumns)
    .where("deviceCommands.orgId", "=", orgId)
    .where("deviceCommands.deviceId", "=", deviceId);
  if (status !== undefined) query = query.where("deviceCommands.status", "=", status);
  if (type !== undefined) query = query.where("deviceCommands.type", "=", type as never);
  return query.orderBy("deviceCommands.queuedAt", "desc").orderBy("deviceCommands.id", "desc");
});
