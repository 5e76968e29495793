import type { FilterGroup } from "#contract/core/filters/condition";
import { asFleetQuery } from "#server/access/fleet-queries";
import { getNamedOrg } from "#server/access/org-access";
import { runWithin } from "#server/db/prepared";
import { limitReads, wasLate } from "#server/db/read-bounds";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { deviceCondition } from "./device-condition.ts";
import { devicesInList } from "./devices-in-list.ts";

/** A device of a page, and where it stands in the order of hostnames. */
export interface Match {
  readonly id: string;
  readonly key: string;
}

interface Page {
  readonly orgId?: string | undefined;
  /** Behind this one. */
  readonly after?: Match | undefined;
  readonly limit: number;
  readonly counted: boolean;
}

/** As long as the database may take over a filter. */
const LIMIT_MS = 5_000;

/** Up to so many are sorted here; of more a page is soon met in the order of an index. */
const FEW = 2_000;

/**
 * Runs what evaluates filters for a person: at most two at a time and sixty a minute (429), and five seconds in the
 * database (422 `FILTER_TIMEOUT`; docs/filters.md, "Limits"). Reads of the embedded database run in a thread.
 */
export const asPreview = <R>(call: Call, work: () => Promise<R>): Promise<R> =>
  asFleetQuery(call, async () => {
    limitReads(call.scope, LIMIT_MS, { apart: true });
    try {
      return await work();
    } catch (error) {
      throw wasLate(error) ? problem("FILTER_TIMEOUT", { cause: error }) : error;
    }
  });

/** A page of the devices of a checked filter by hostname, then id, in the caller's lists; 403 for an organization out of reach. */
export async function matchingDevices(call: Call, filter: FilterGroup, { orgId, after, limit, counted }: Page) {
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  const { db, scope, clock } = call;
  const evaluatedAt = clock.now();
  const dialect = call.services.store.dialect;
  const condition = await deviceCondition(db, filter, {
    now: evaluatedAt,
    dialect,
    ...(orgId === undefined ? {} : { orgId }),
  });
  const all = devicesInList(db, scope, { filter, condition, orgId }).select([
    "devices.id",
    "devices.hostnameKey as key",
  ]);
  const few = await runWithin<Match>(
    db,
    all.limit((eb) => eb.lit(FEW + 1)),
  );
  if (few.length <= FEW) {
    const behind = few.toSorted(byKey).filter((one) => !after || byKey(one, after) > 0);
    return { matches: behind.slice(0, limit), totalCount: few.length, evaluatedAt };
  }
  const page = await runWithin<Match>(
    db,
    (after
      ? all.where((eb) => eb(eb.refTuple("devices.hostnameKey", "devices.id"), ">", eb.tuple(after.key, after.id)))
      : all
    )
      .orderBy("devices.hostnameKey")
      .orderBy("devices.id")
      .limit(limit),
  );
  if (!counted) return { matches: page, totalCount: undefined, evaluatedAt };
  const [count] = await runWithin<{ total: number }>(
    db,
    devicesInList(db, scope, { filter, condition, orgId }).select((eb) => eb.fn.countAll<number>().as("total")),
  );
  return { matches: page, totalCount: Number(count?.total), evaluatedAt };
}

/** Both databases order texts by their bytes in UTF-8, which is the order of code points. */
export function byKey(a: Match, b: Match): number {
  if (a.key !== b.key) return Buffer.compare(Buffer.from(a.key), Buffer.from(b.key));
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
