import type { Endpoint } from "#contract/core/endpoint";
import type { deviceCommands } from "#contract/resources/fleet/device-commands";
import { paginate } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { commandColumns, commandView } from "./command-view.ts";
import { getTarget } from "./queries.ts";

type ListCall = typeof deviceCommands.list extends Endpoint<infer T> ? Call<T> : never;

/** Newest first. */
export async function listCommands(call: ListCall) {
  const device = await getTarget(call, call.db, call.params.id);
  const { status, type } = call.query;
  let query = call.db
    .selectFrom("deviceCommands")
    .select(commandColumns)
    .where("deviceCommands.orgId", "=", device.orgId)
    .where("deviceCommands.deviceId", "=", device.id);
  if (status !== undefined) query = query.where("deviceCommands.status", "=", status);
  if (type !== undefined) query = query.where("deviceCommands.type", "=", type as never);
  const ordered = query.orderBy("deviceCommands.queuedAt", "desc").orderBy("deviceCommands.id", "desc");
  const page = await paginate(ordered, call.query);
  return { ...page, data: page.data.map(commandView) };
}
