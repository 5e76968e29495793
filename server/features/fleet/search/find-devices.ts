import type { SelectQueryBuilder } from "kysely";
import { isOfOrgInLists } from "#server/access/org-access";
import { isLongEnough, nameSearch } from "#server/db/dialect/device-names";
import { withIds } from "#server/db/dialect/json";
import { containsPattern, isLike, matches, word } from "#server/db/dialect/text";
import { namedIds } from "#server/db/named-devices";
import { preparedRows } from "#server/db/prepared";
import type { Database } from "#server/db/tables";
import type { Call } from "#server/http/call";
import { byNearness, describeDevice } from "./rules.ts";

/** So many that are named so are looked at: of more, those that begin with the text and some of the others. */
const LOOKED_AT = 300;
const ALL = 2_147_483_647;

/** Devices whose hostname, display name or last user contains the text, the nearest first, in the caller's reach. */
export async function findDevices(call: Pick<Call, "db" | "scope">, needle: string, limit: number) {
  const folded = needle.toLowerCase();
  const rows = isLongEnough(needle) ? await byIndex(call, needle, limit) : await byReading(call, needle, limit);
  return [...new Map(rows.map((row) => [row.id, row])).values()]
    .sort(byNearness(folded))
    .slice(0, limit)
    .map(({ id, hostname, displayName, status, lastUser }) => ({
      ...{ id, type: "devices" as const, title: displayName ?? hostname },
      description: describeDevice([hostname, status, lastUser]),
    }));
}

async function byIndex(call: Pick<Call, "db" | "scope">, needle: string, limit: number): Promise<Row[]> {
  const search = nameSearch(needle, call.scope, ["hostname", "displayName", "lastUser"]);
  const ids = await namedIds(call.db, search, LOOKED_AT);
  const rows = await rowsOf(call.db, { ids }, null);
  if (ids.length < LOOKED_AT) return rows;
  // What was found first may lie where the caller does not reach.
  const others =
    rows.length < limit ? await rowsOf(call.db, { ids: await namedIds(call.db, search, ALL) }, null) : rows;
  return [...(await beginningWith(call, needle, limit)), ...others];
}

async function byReading(call: Pick<Call, "db" | "scope">, needle: string, limit: number): Promise<Row[]> {
  const [near, others] = await Promise.all([
    beginningWith(call, needle, limit),
    read(call.db, { pattern: containsPattern(needle), limit }, null),
  ]);
  return [...near, ...others];
}

type Devices = SelectQueryBuilder<Database, "devices", object>;

/** Those in service, of organizations that lists show. Few are hidden: each device is soon looked for among these. */
const inLists = (query: Devices) =>
  query
    .where(isOfOrgInLists)
    .where("devices.status", "<>", word("decommissioned"))
    .select(["devices.id", "devices.hostname", "devices.hostnameKey", "devices.displayName"])
    .select(["devices.status", "devices.lastUser"]);

type Row = Awaited<ReturnType<typeof rowsOf>>[number];

const rowsOf = preparedRows((db, { ids }: { ids: string[] }) => inLists(withIds(db, "devices", ids)), { by: "key" });

const read = preparedRows((db, { pattern, limit }: { pattern: string; limit: number }) =>
  inLists(db.selectFrom("devices"))
    .where((eb) =>
      eb.or([
        isLike(eb.ref("devices.hostnameKey"), pattern),
        isLike(eb.ref("devices.displayKey"), pattern),
        matches(eb.ref("devices.lastUser"), pattern),
      ]),
    )
    .limit(limit),
);

/** The last of all texts that begin with another one ends with it. */
const LAST = "\u{10FFFF}";

/** In the order of an index that begins with the tenant; nobody else is asked for. */
async function beginningWith({ db, scope }: Pick<Call, "db" | "scope">, needle: string, limit: number): Promise<Row[]> {
  if (scope.kind !== "partner" && scope.kind !== "organization") return [];
  const from = needle.toLowerCase();
  const tenant =
    scope.kind === "partner"
      ? { partnerId: scope.partnerId, orgId: undefined }
      : { orgId: scope.orgId, partnerId: undefined };
  return between(db, { ...tenant, from, to: `${from}${LAST}`, limit }, null);
}

type Range = { partnerId: string | undefined; orgId: string | undefined; from: string; to: string; limit: number };

const between = preparedRows((db, { partnerId, orgId, from, to, limit }: Range) => {
  let query = inLists(db.selectFrom("devices"))
    .where("devices.hostnameKey", ">=", from)
    .where("devices.hostnameKey", "<=", to);
  if (partnerId !== undefined) query = query.where("devices.partnerId", "=", partnerId);
  if (orgId !== undefined) query = query.where("devices.orgId", "=", orgId);
  return query.orderBy("devices.hostnameKey").orderBy("devices.id").limit(limit);
});
