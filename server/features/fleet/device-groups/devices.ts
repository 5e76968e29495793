import type { Endpoint } from "#contract/core/endpoint";
import type { deviceGroups } from "#contract/resources/fleet/device-groups";
import { withIds } from "#server/db/dialect/json";
import { preparedPage } from "#server/db/paginate";
import { preparedRows } from "#server/db/prepared";
import type { Call } from "#server/http/call";
import { getGroup } from "./queries.ts";

type DevicesCall = typeof deviceGroups.devices extends Endpoint<infer T> ? Call<T> : never;

/** Members, the latest to join first. */
export async function listMembers(call: DevicesCall) {
  const { id: groupId, orgId } = await getGroup(call, call.db, call.params.id);
  const page = await pageOf(call.db, call.query, { orgId, groupId }, null);
  const ids = page.data.map(({ deviceId }) => deviceId);
  const devices = ids.length === 0 ? [] : await devicesOf(call.db, { ids }, null);
  const known = new Map(devices.map(({ id, ...device }) => [id, device]));
  const data = page.data.flatMap((member) => {
    const device = known.get(member.deviceId);
    return device ? [{ ...member, ...device }] : [];
  });
  return { ...page, data };
}

const pageOf = preparedPage((db, { orgId, groupId }: { orgId: string; groupId: string }) =>
  db
    .selectFrom("deviceGroupMembers")
    .select(["deviceId", "isPinned", "addedAt", "addedBy"])
    .where("orgId", "=", orgId)
    .where("groupId", "=", groupId)
    .orderBy("addedAt", "desc")
    .orderBy("deviceId", "desc"),
);

const devicesOf = preparedRows(
  (db, { ids }: { ids: string[] }) =>
    withIds(db, "devices", ids).select([
      "devices.id",
      "devices.hostname",
      "devices.displayName",
      "devices.status",
      "devices.osType",
    ]),
  { by: "key" },
);
