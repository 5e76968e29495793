import type { Selectable } from "kysely";
import type { FilterGroup } from "#contract/core/filters/condition";
import type { DialectName } from "#server/db/dialect/index";
import { type CompilableOnce, runOnce } from "#server/db/prepared";
import type { Scope } from "#server/db/scope";
import type { Database } from "#server/db/tables";
import type { Reader } from "#server/db/unit-of-work";
import { candidatesFor } from "./candidates.ts";
import type { Context, Meets } from "./context.ts";
import { conditionMaker } from "./device-condition.ts";
import { devicesInList } from "./devices-in-list.ts";
import { seenGroups } from "./seen-groups.ts";

/** A device of a page, and where it stands in the order of hostnames. */
export interface Match {
  readonly id: string;
  readonly key: string;
}

/** What previews show of a device, and no more. */
type Shown = Pick<
  Selectable<Database["devices"]>,
  "id" | "hostname" | "displayName" | "status" | "osType" | "lastSeenAt"
>;

/** Up to so many are looked at one by one and sorted here. */
const FEW = 1_000;
/** Where no index knows, up to so many pages of them: a page of more is met soon enough in the order of names. */
const FEW_PAGES = 10;
/** Of up to so many times as many the database is told which they are among; of more a page is soon met in the order of an index. */
const SOME = { sqlite: 3, postgres: 10 } as const;

export interface Finding {
  readonly db: Reader;
  readonly scope: Scope;
  readonly dialect: DialectName;
  /** ISO-8601. */
  readonly now: string;
  /** An organization that `getNamedOrg` has let through. */
  readonly orgId: string | undefined;
  readonly fewest?: number;
  /** Comparisons of custom fields that are written in full (`customColumns`). */
  readonly written?: number | undefined;
}

/** Finds devices of a checked filter among those that lists show (docs/filters.md, "How devices are found"). */
export async function finderOf(
  { db, scope, dialect, now, orgId, fewest = FEW, written }: Finding,
  filter: FilterGroup,
) {
  const groups = await seenGroups(db, filter);
  const conditionFor = await conditionMaker(db, filter, {
    now,
    dialect,
    groups,
    written,
    ...(orgId === undefined ? {} : { orgId }),
  });
  const find = async <Row>(
    meets: Meets,
    build: (devices: Listed) => CompilableOnce<Row>,
    among?: readonly string[],
    driving?: Context["driving"],
  ) => {
    const condition = await conditionFor(meets, driving);
    return runOnce<Row>(db, (handle) => build(devicesInList(handle, scope, { filter, condition, orgId, ids: among })), {
      by: orgId !== undefined ? "key" : among ? "devices by key" : "devices",
    });
  };
  const { ids, driving } = await candidatesFor({ db, scope, dialect, orgId, groups }, filter, fewest * SOME[dialect]);
  const isNone = ids?.length === 0;
  /** All of them with what previews show, unless they are too many to sort. */
  const few = async (limit: number): Promise<(Match & Shown)[] | undefined> => {
    if (isNone) return [];
    if (ids && ids.length <= fewest)
      return (await find<Match & Shown>("some", (all) => all.select(shown), ids)).toSorted(byKey);
    // Postgres would read them all to find a thousand, as it does to count them.
    if (ids || dialect === "postgres") return undefined;
    const most = Math.min(fewest, limit * FEW_PAGES);
    const found = await find<Match & Shown>("wanted", (all) => all.select(shown).limit((eb) => eb.lit(most + 1)));
    return found.length > most ? undefined : found.toSorted(byKey);
  };
  const walk = async (after: Match | undefined, limit: number) => {
    const rest = (all: Listed) =>
      after
        ? all.where((eb) => eb(eb.refTuple("devices.hostnameKey", "devices.id"), ">", eb.tuple(after.key, after.id)))
        : all;
    return isNone ? [] : find<Match>("some", (all) => inOrder(rest(all), limit).select(columns), ids);
  };
  const count = async () => {
    if (isNone) return 0;
    const total = (all: Listed) => all.select((eb) => eb.fn.countAll<number>().as("total"));
    const [counted] = await find(ids ? "some" : "all", total, ids, await driving?.());
    return Number(counted?.total);
  };
  /** How many devices there are that indexes name, and the first of them, by one statement. */
  const counted = async (limit: number) => {
    const rows = await find<Match & Shown & { total: number }>(
      "some",
      (all) =>
        inOrder(all, limit)
          .select(shown)
          .select((eb) => eb.fn.countAll<number>().over().as("total")),
      ids,
    );
    return { totalCount: Number(rows[0]?.total ?? 0), matches: rows.map(({ total: _, ...match }) => match) };
  };
  /**
   * How many there are, and the first of them; two threads or connections look at once, unless indexes know enough. What
   * is shown of one is of the moment at which it was judged: who has changed since the walk, and matches no more, is left out.
   */
  const first = async (limit: number) => {
    if (isNone) return { totalCount: 0, matches: [] };
    if (ids) return counted(limit);
    const counting = count();
    // Nobody may come to wait for it.
    counting.catch(() => undefined);
    const all = await few(limit);
    if (all) return { totalCount: all.length, matches: all.slice(0, limit) };
    const page = async () => {
      const met = (await walk(undefined, limit)).map(({ id }) => id);
      return met.length === 0 ? [] : find<Match & Shown>("some", (rows) => rows.select(shown), met);
    };
    const [totalCount, matches] = await Promise.all([counting, page()]);
    return { totalCount, matches: matches.toSorted(byKey) };
  };
  return { few, walk, count, first };
}

type Listed = ReturnType<typeof devicesInList>;

const inOrder = (devices: Listed, limit: number) =>
  devices.orderBy("devices.hostnameKey").orderBy("devices.id").limit(limit);

const columns = ["devices.id", "devices.hostnameKey as key"] as const;
const shown = [
  ...columns,
  "devices.hostname",
  "devices.displayName",
  "devices.status",
  "devices.osType",
  "devices.lastSeenAt",
] as const;

/** Both databases order texts by their bytes in UTF-8, which is the order of code points. */
export function byKey(a: Match, b: Match): number {
  if (a.key !== b.key) return Buffer.compare(Buffer.from(a.key), Buffer.from(b.key));
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
