import { pageQuery } from "#contract/core/page";
import { paginate } from "#server/db/paginate";
import { filteredDevices, type ListCall } from "./filters.ts";
import { listByCursor } from "./list-by-cursor.ts";
import { toListItems } from "./list-item.ts";
import { deviceColumns } from "./queries.ts";

/** Devices by cursor or by page, depending on the parameters that are present (docs/fleet.md, "Listing devices"). */
export async function listDevices(call: ListCall) {
  const { page, cursor, sort, sortDir, includeTotal } = call.query;
  const walks = [cursor, sort, sortDir, includeTotal].some((value) => value !== undefined);
  return page === undefined && walks ? listByCursor(call) : listByPage(call);
}

async function listByPage(call: ListCall) {
  const { page, limit } = pageQuery();
  const request = { page: page.parse(call.query.page), limit: limit.parse(call.query.limit) };
  const query = (await filteredDevices(call))
    .select(deviceColumns)
    .select("organizations.name as orgName")
    .orderBy("devices.lastSeenAt", (order) => order.desc().nullsLast())
    .orderBy("devices.id", "desc");
  const { data, pagination } = await paginate(query, request);
  return { data: await toListItems(call.db, data), pagination };
}
