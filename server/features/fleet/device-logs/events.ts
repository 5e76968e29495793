import type { Endpoint } from "#contract/core/endpoint";
import type { deviceLogs } from "#contract/resources/fleet/device-logs";
import { preparedPage } from "#server/db/paginate";
import { getTarget } from "#server/features/fleet/device-commands/get-target";
import type { Call } from "#server/http/call";

type ListCall = typeof deviceLogs.events extends Endpoint<infer T> ? Call<T> : never;

/** Events of the time in which the device was in its organization (docs/device-logs.md, "Reading"). */
export async function listEvents(call: ListCall) {
  const { id: deviceId, orgId } = await getTarget(call, call.db, call.params.id);
  const { page, limit, category, level, source, startDate, endDate } = call.query;
  const asked = { orgId, deviceId, category, level, source, startDate, endDate };
  const found = await pageOf(call.db, { page, limit }, asked, null);
  return { ...found, data: found.data.map(({ fields, ...event }) => ({ ...event, details: fields })) };
}

type Asked = { orgId: string; deviceId: string } & Omit<ListCall["query"], "page" | "limit">;

const pageOf = preparedPage((db, asked: Asked) => {
  const { orgId, deviceId, category, level, source, startDate, endDate } = asked;
  let query = db
    .selectFrom("deviceEventLogs")
    .select(["id", "deviceId", "orgId", "timestamp", "level", "category", "source", "eventId", "message"])
    .select(["fields", "createdAt"])
    .where("deviceEventLogs.orgId", "=", orgId)
    .where("deviceEventLogs.deviceId", "=", deviceId);
  if (category !== undefined) query = query.where("deviceEventLogs.category", "=", category);
  if (level !== undefined) query = query.where("deviceEventLogs.level", "=", level);
  if (source !== undefined) query = query.where("deviceEventLogs.source", "=", source);
  if (startDate !== undefined) query = query.where("deviceEventLogs.timestamp", ">=", startDate);
  if (endDate !== undefined) query = query.where("deviceEventLogs.timestamp", "<=", endDate);
  return query.orderBy("deviceEventLogs.timestamp", "desc").orderBy("deviceEventLogs.id", "desc");
});
