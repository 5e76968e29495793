import { expressionBuilder, type Kysely, type SelectQueryBuilder } from "kysely";
import { type FilterGroup, fieldsUsed } from "#contract/core/filters/condition";
import { boundedReadOf } from "#server/db/dialect/bounded-read";
import { idList } from "#server/db/dialect/json";
import { type ReadBounds, wasLate } from "#server/db/read-bounds";
import type { Database } from "#server/db/tables";
import { deviceCondition } from "#server/filters/device-condition";
import { problem } from "#server/problem";
import type { EventServices } from "#server/room-hooks";
import { WRITTEN_AT_ONCE } from "./rules.ts";

/** As long as one look at all devices may take, by the database. */
const LOOK_MS = 5_000;

/** What decides whom a dynamic group holds. */
export interface Rule {
  readonly orgId: string;
  readonly siteId: string | null;
  readonly filter: FilterGroup;
}

/** Ids of devices. */
export interface Difference {
  /** Match, and are no members. */
  readonly joining: readonly string[];
  /** Members that match no more, and are not pinned; of a site's group those of other sites too. */
  readonly leaving: readonly string[];
}

type Services = Pick<EventServices, "store" | "clock">;
type Db = Kysely<Database>;

/** Needs an unscoped handle: what people see has no part in it. `only`: looks at these devices alone. */
async function matchingOf(db: Db, { store, clock }: Services, rule: Rule, only?: readonly string[]) {
  const { orgId, siteId, filter } = rule;
  const options = { now: clock.now(), dialect: store.dialect, orgId, few: only !== undefined };
  const condition = await deviceCondition(db, filter, options);
  const matching = () => {
    let query = db
      .selectFrom("devices")
      .select("devices.id as id")
      .where("devices.orgId", "=", orgId)
      .where("devices.status", "<>", "decommissioned")
      .where(condition);
    if (siteId !== null) query = query.where("devices.siteId", "=", siteId);
    return only === undefined ? query : query.where("devices.id", "in", [...only]);
  };
  return matching;
}

/**
 * Who matches the rule, whoever is a member now; undefined where they are more than a request writes. `waiting` is the
 * request that asks.
 */
export async function matchesOf(
  db: Db,
  services: Services,
  rule: Rule,
  waiting: ReadBounds | undefined,
): Promise<string[] | undefined> {
  const matching = await matchingOf(db, services, rule);
  const one = materialized(db, matching);
  const found = one.selectNoFrom((eb) => [
    eb
      .case()
      .when(
        matched().select((fn) => fn.fn.countAll<number>().as("count")),
        "<=",
        WRITTEN_AT_ONCE,
      )
      .then(idList(matched().select("id"), services.store.dialect))
      .end()
      .as("ids"),
  ]);
  const [row] = await look(db, found, { ...waiting, ...limits(undefined, waiting?.gone) });
  return row?.ids ? idsOf(row.ids) : undefined;
}

/**
 * Who is to join and to leave a group, as of now (docs/device-groups.md, "Dynamic groups"): one statement looks at the
 * devices once, and answers ids as texts, which cost the event loop less than rows. As differences of sets: both
 * databases work them out in one pass, whatever they think how many devices there are. Conditions are never negated,
 * since they may be null.
 */
export async function differenceOf(
  db: Db,
  services: Services,
  groupId: string,
  rule: Rule,
  only?: readonly string[],
): Promise<Difference> {
  const { dialect } = services.store;
  const matching = await matchingOf(db, services, rule, only);
  const members = () => {
    const query = db.selectFrom("deviceGroupMembers").select("deviceId as id").where("groupId", "=", groupId);
    return only === undefined ? query : query.where("deviceId", "in", [...only]);
  };
  const unpinned = members().where("isPinned", "=", false).except(matched().select("id"));
  const { siteId } = rule;
  const leaving = siteId === null ? unpinned : unpinned.union(foreign(members(), siteId));
  const found = materialized(db, matching).selectNoFrom([
    idList(matched().select("id").except(members()), dialect).as("joining"),
    idList(leaving, dialect).as("leaving"),
  ]);
  const [lists] = await look(db, found, limits(only));
  return { joining: idsOf(lists?.joining), leaving: idsOf(lists?.leaving) };
}

type Matching = Awaited<ReturnType<typeof matchingOf>>;

/** The devices are looked at once, however often the statement speaks of them. */
const materialized = (db: Db, matching: Matching) =>
  db.with(
    (cte) => cte("matching").materialized(),
    () => matching(),
  );
const matched = () => expressionBuilder<{ matching: { id: string } }, never>().selectFrom("matching");

/** Members of other sites: a group of a site keeps none of them, pinned or not. */
const foreign = (members: SelectQueryBuilder<Database, "deviceGroupMembers", { id: string }>, siteId: string) =>
  members
    .innerJoin("devices", "devices.id", "deviceGroupMembers.deviceId")
    .where("isPinned", "=", true)
    .where("devices.siteId", "is distinct from", siteId);

/** A look at all devices has a thread of the embedded database for itself. */
const limits = (only: readonly string[] | undefined, gone = new AbortController().signal): ReadBounds => ({
  gone,
  untilMs: performance.now() + LOOK_MS,
  apart: only === undefined,
});

interface Look<Row> {
  compile(): { sql: string; parameters: readonly unknown[] };
  execute(): Promise<Row[]>;
}

/** Outside a transaction it holds nobody up, and ends in time: 422 `FILTER_TIMEOUT`. */
async function look<Row>(db: Db, query: Look<Row>, bounds: ReadBounds): Promise<Row[]> {
  const read = boundedReadOf(db);
  if (!read) return query.execute();
  const { sql, parameters } = query.compile();
  try {
    return (await read(sql, parameters, bounds)) as Row[];
  } catch (error) {
    throw wasLate(error) ? problem("FILTER_TIMEOUT", { cause: error }) : error;
  }
}

const idsOf = (text: string | undefined): string[] => JSON.parse(text ?? "[]") as string[];

const timed = /^(metrics\..*|uptimeSeconds|lastSeenAt|daysSince.*)$/;

/** Whether time or a plain heartbeat alone changes whom it matches: the sweep looks then. */
export function followsClock(filter: FilterGroup): boolean {
  if ([...fieldsUsed(filter)].some((field) => timed.test(field))) return true;
  return [...operatorsIn(filter)].some((operator) => operator === "withinLast" || operator === "notWithinLast");
}

function operatorsIn({ conditions }: FilterGroup): string[] {
  return conditions.flatMap((part) => ("conditions" in part ? operatorsIn(part) : [part.operator]));
}
