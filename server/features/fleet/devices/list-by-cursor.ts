import { lenientInt } from "#contract/core/page";
import { encodeCursor, readCursor } from "./cursor.ts";
import { askedOf, type ListCall } from "./filters.ts";
import { listItems } from "./list-item.ts";
import { idsByKey, idsWithoutKey, lookFor, totalOf } from "./page.ts";

/**
 * One page of devices by cursor (docs/fleet.md, "Device cursors"). The cursor holds the last key and id, so devices
 * that are added, removed or changed elsewhere do not repeat or hide others. A device whose own key changes meanwhile
 * moves in the order: with `hostname` or `enrolled` each device appears exactly once.
 */
export async function listByCursor(call: ListCall) {
  const { sort, sortDir, from } = readCursor(call.query.cursor, call.query);
  const limit = lenientInt({ default: 50, min: 1, max: 1_000 }).parse(call.query.limit);
  const order = { sort, sortDir };
  const counted = call.query.includeTotal === true;
  const where = await lookFor(call, await askedOf(call));
  const wanted = limit + 1;
  const after = { afterKey: from?.key ?? undefined, afterId: from?.id };
  const found: { id: string; key: string | null }[] =
    from?.key === null ? [] : await idsByKey(call.db, { ...where, ...after, limit: wanted }, order);
  // Devices without a key come last, in the order of their ids.
  if (found.length < wanted && sort !== "hostname") {
    const afterId = from?.key === null ? from.id : undefined;
    const rest = { ...where, afterKey: undefined, afterId, limit: wanted - found.length };
    for (const { id } of await idsWithoutKey(call.db, rest, order)) found.push({ id, key: null });
  }
  const shown = found.slice(0, limit);
  const last = found.length > limit ? shown.at(-1) : undefined;
  return {
    devices: await listItems(
      call.db,
      shown.map(({ id }) => id),
      { pending: call.query.includePending },
    ),
    nextCursor: last ? encodeCursor({ v: 1, sort, sortDir, key: last.key, id: last.id }) : null,
    limit,
    ...(counted ? { total: await totalOf(call, where) } : {}),
  };
}
