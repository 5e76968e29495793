import type { Endpoint } from "#contract/core/endpoint";
import type { tags } from "#contract/resources/fleet/tags";
import { listedOrgs } from "#server/access/org-access";
import { elementsOf } from "#server/db/dialect/json";
import { bytewise } from "#server/db/dialect/ordering";
import { contains } from "#server/db/dialect/text";
import type { Call } from "#server/http/call";
import { taggedDevices } from "./tagged.ts";

type ListCall = typeof tags.list extends Endpoint<infer T> ? Call<T> : never;

const TAGS_MAX = 1_000;

/** Tags with how many devices carry them (docs/fleet.md, "Tags"). */
export async function listTags(call: ListCall) {
  const { search, orgId } = call.query;
  const { dialect } = call.services.store;
  let query = taggedDevices(call.db)
    .where("devices.orgId", "in", await listedOrgs(call, orgId))
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
  if (search) query = query.where((eb) => contains(eb.ref("item.value"), search));
  const rows = await query.execute();
  const data = rows.map(({ tag, deviceCount }) => ({ tag, name: tag, deviceCount: Number(deviceCount) }));
  return { data, total: Number(rows[0]?.total ?? 0) };
}
