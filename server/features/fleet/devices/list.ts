import { pageQuery } from "#contract/core/page";
import { askedOf, type ListCall } from "./filters.ts";
import { listByCursor } from "./list-by-cursor.ts";
import { listItems } from "./list-item.ts";
import { idsByPage, lookFor, totalOf } from "./page.ts";

/** Devices by cursor or by page, depending on the parameters that are present (docs/fleet.md, "Listing devices"). */
export async function listDevices(call: ListCall) {
  const { page, cursor, sort, sortDir, includeTotal } = call.query;
  const walks = [cursor, sort, sortDir, includeTotal].some((value) => value !== undefined);
  return page === undefined && walks ? listByCursor(call) : listByPage(call);
}

async function listByPage(call: ListCall) {
  const { page: pageText, limit: limitText } = pageQuery();
  const [page, limit] = [pageText.parse(call.query.page), limitText.parse(call.query.limit)];
  const where = await lookFor(call, await askedOf(call));
  const offset = (page - 1) * limit;
  const [total, ids] = await Promise.all([totalOf(call, where), idsByPage(call.db, { ...where, limit, offset }, null)]);
  const data = await listItems(
    call.db,
    ids.map(({ id }) => id),
    { pending: call.query.includePending },
  );
  return { data, pagination: { page, limit, total } };
}
