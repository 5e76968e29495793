import type { FilterGroup } from "#contract/core/filters/condition";
import { asFleetQuery } from "#server/access/fleet-queries";
import { getNamedOrg } from "#server/access/org-access";
import { type Compilable, runOnce } from "#server/db/prepared";
import { limitReads, wasLate } from "#server/db/read-bounds";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import type { Meets } from "./context.ts";
import { conditionMaker } from "./device-condition.ts";
import { devicesInList } from "./devices-in-list.ts";

/** A device of a page, and where it stands in the order of hostnames. */
export interface Match {
  readonly id: string;
  readonly key: string;
}

interface Asked {
  readonly orgId?: string | undefined;
  readonly limit: number;
}

/** As long as the database may take over a filter. */
const LIMIT_MS = 5_000;

/** Up to so many are sorted here; of more a page is soon met in the order of an index. */
const FEW = 500;

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

/** Finds devices of a checked filter in the caller's lists; 403 for an organization out of reach. */
async function finderFor(call: Call, filter: FilterGroup, orgId: string | undefined) {
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  const { db, scope, clock } = call;
  const evaluatedAt = clock.now();
  const options = { now: evaluatedAt, dialect: call.services.store.dialect, ...(orgId === undefined ? {} : { orgId }) };
  // Postgres would count the set of organizations anew for each device, and rather read all of these.
  const keyed = (meets: Meets) => options.dialect === "postgres" && meets === "wanted";
  const conditionFor = await conditionMaker(db, filter, options);
  const find = async <Row>(meets: Meets, build: (devices: ReturnType<typeof devicesInList>) => Compilable<Row>) => {
    const condition = await conditionFor(meets);
    return runOnce<Row>(
      db,
      (handle) => build(devicesInList(handle, scope, { filter, condition, orgId, byKey: keyed(meets) })),
      { by: orgId !== undefined ? "key" : keyed(meets) ? "devices by key" : "devices" },
    );
  };
  /** All of them, unless they are too many to sort. */
  const few = async () => {
    const found = await find<Match>("wanted", (all) => all.select(columns).limit((eb) => eb.lit(FEW + 1)));
    return found.length > FEW ? undefined : found.toSorted(byKey);
  };
  const walk = (after: Match | undefined, limit: number) =>
    find<Match>("some", (all) =>
      (after
        ? all.where((eb) => eb(eb.refTuple("devices.hostnameKey", "devices.id"), ">", eb.tuple(after.key, after.id)))
        : all
      )
        .select(columns)
        .orderBy("devices.hostnameKey")
        .orderBy("devices.id")
        .limit(limit),
    );
  const count = async () => {
    const [counted] = await find<{ total: number }>("all", (some) =>
      some.select((eb) => eb.fn.countAll<number>().as("total")),
    );
    return Number(counted?.total);
  };
  return { evaluatedAt, few, walk, count };
}

/** How many there are, and the first of them by hostname, then id. */
export async function countedMatches(call: Call, filter: FilterGroup, { orgId, limit }: Asked) {
  const { evaluatedAt, few, walk, count } = await finderFor(call, filter, orgId);
  const all = await few();
  if (all) return { matches: all.slice(0, limit), totalCount: all.length, evaluatedAt };
  const [totalCount, matches] = await Promise.all([count(), walk(undefined, limit)]);
  return { matches, totalCount, evaluatedAt };
}

interface Page extends Asked {
  readonly after: Match | undefined;
  readonly counted: boolean;
}

/** A page of them behind one of them; with how many there are in all where that is asked for. */
export async function nextMatches(call: Call, filter: FilterGroup, { orgId, limit, after, counted }: Page) {
  const { few, walk, count } = await finderFor(call, filter, orgId);
  const all = await few();
  if (all) {
    const matches = all.filter((one) => !after || byKey(one, after) > 0).slice(0, limit);
    return { matches, total: counted ? all.length : undefined };
  }
  const [matches, total] = await Promise.all([walk(after, limit), counted ? count() : undefined]);
  return { matches, total };
}

const columns = ["devices.id", "devices.hostnameKey as key"] as const;

/** Both databases order texts by their bytes in UTF-8, which is the order of code points. */
export function byKey(a: Match, b: Match): number {
  if (a.key !== b.key) return Buffer.compare(Buffer.from(a.key), Buffer.from(b.key));
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
