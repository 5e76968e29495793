import type { Kysely } from "kysely";
import type { Endpoint } from "#contract/core/endpoint";
import type { FilterGroup } from "#contract/core/filters/condition";
import type { devices } from "#contract/resources/fleet/devices";
import type { Database } from "#server/db/tables";
import { checkedFilter } from "#server/filters/checked-filter";
import { deviceCondition } from "#server/filters/device-condition";
import { devicesInList } from "#server/filters/devices-in-list";
import { asPreview, nextMatches } from "#server/filters/matching-devices";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { encodeCursor, readCursor } from "./cursor.ts";
import { listItems } from "./list-item.ts";

type QueryCall = typeof devices.query extends Endpoint<infer T> ? Call<T> : never;

const order = { sort: "hostname", sortDir: "asc" } as const;

/** Every device of a filter, a page at a time in the order of hostnames (docs/filters.md, "Devices of a filter"). */
export const queryDevices = (call: QueryCall) =>
  asPreview(call, async () => {
    const { conditions, orgId, cursor, limit, includePending: pending, includeTotal: counted = false } = call.body;
    const filter = await checkedFilter(call.db, conditions, orgId === undefined ? {} : { orgId });
    const { from } = readCursor(cursor, order);
    if (from?.key === null) throw problem("INVALID_CURSOR");
    const after = from && { key: from.key as string, id: from.id };
    const { matches, total } = await nextMatches(call, filter, { orgId, after, limit: limit + 1, counted });
    const shown = matches.slice(0, limit);
    // Whoever has changed since its id was read, and matches no more, is left out.
    const condition = await conditionOf(call, filter, orgId);
    const still = (db: Kysely<Database>, ids: string[]) =>
      devicesInList(db, call.scope, { filter, condition, orgId, ids }).select("devices.id");
    const last = matches.length > limit ? shown.at(-1) : undefined;
    return {
      devices: await listItems(
        call.db,
        shown.map(({ id }) => id),
        { pending, still },
      ),
      nextCursor: last ? encodeCursor({ v: 1, ...order, ...last }) : null,
      limit,
      ...(total === undefined ? {} : { total }),
    };
  });

const conditionOf = ({ db, clock, services }: QueryCall, filter: FilterGroup, orgId: string | undefined) =>
  deviceCondition(db, filter, {
    ...{ now: clock.now(), dialect: services.store.dialect, few: true },
    ...(orgId === undefined ? {} : { orgId }),
  });
