import type { Endpoint } from "#contract/core/endpoint";
import type { tags } from "#contract/resources/fleet/tags";
import { getNamedOrg, orgsInList } from "#server/access/org-access";
import type { DialectName } from "#server/db/dialect/index";
import { elementsOf } from "#server/db/dialect/json";
import { bytewise } from "#server/db/dialect/ordering";
import { containsPattern, matches } from "#server/db/dialect/text";
import { preparedRows } from "#server/db/prepared";
import type { Call } from "#server/http/call";
import { taggedDevices } from "./tagged.ts";

type ListCall = typeof tags.list extends Endpoint<infer T> ? Call<T> : never;

const TAGS_MAX = 1_000;

/** Tags with how many devices carry them (docs/fleet.md, "Tags"). */
export async function listTags(call: ListCall) {
  const { search, orgId } = call.query;
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  const pattern = search ? containsPattern(search) : undefined;
  const rows = await tagsOf(call.db, { orgId, pattern }, { dialect: call.services.store.dialect });
  const data = rows.map(({ tag, deviceCount }) => ({ tag, name: tag, deviceCount: Number(deviceCount) }));
  return { data, total: Number(rows[0]?.total ?? 0) };
}

type Asked = { orgId: string | undefined; pattern: string | undefined };

const tagsOf = preparedRows((db, { orgId, pattern }: Asked, { dialect }: { dialect: DialectName }) => {
  const query = taggedDevices(db)
    .where("devices.orgId", "in", orgsInList(orgId))
    .innerJoin(
      (eb) => elementsOf(eb.ref("devices.tags"), dialect).as("item"),
      (join) => join.onTrue(),
    )
    .select((eb) => [
      "item.value as tag",
      eb.fn.countAll<number>().as("deviceCount"),
      eb.fn.countAll<number>().over().as("total"),
    ])
    .groupBy("item.value")
    .orderBy("deviceCount", "desc")
    .orderBy((eb) => bytewise(eb.ref("item.value"), dialect))
    .limit(TAGS_MAX);
  return pattern === undefined ? query : query.where((eb) => matches(eb.ref("item.value"), pattern));
});
