import type { Endpoint } from "#contract/core/endpoint";
import type { deviceGroups } from "#contract/resources/fleet/device-groups";
import type { Call } from "#server/http/call";
import { getGroup, shownGroup } from "./queries.ts";

type GetCall = typeof deviceGroups.get extends Endpoint<infer T> ? Call<T> : never;

export async function showGroup(call: GetCall) {
  const { id } = await getGroup(call, call.db, call.params.id);
  return shownGroup(call.db, id);
}
