import type { Endpoint } from "#contract/core/endpoint";
import type { tags } from "#contract/resources/fleet/tags";
import { listedOrgs } from "#server/access/org-access";
import { hasElement } from "#server/db/dialect/json";
import { paginate } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { taggedDevices } from "./tagged.ts";

type DevicesCall = typeof tags.devices extends Endpoint<infer T> ? Call<T> : never;

/** Devices that carry a tag, spelled as it is (docs/fleet.md, "Tags"). */
export async function listTaggedDevices(call: DevicesCall) {
  const { dialect } = call.services.store;
  const query = taggedDevices(call.db)
    .where("devices.orgId", "in", await listedOrgs(call, undefined))
    .where((eb) => hasElement(eb.ref("devices.tags"), call.query.tag, dialect))
    .select(["devices.id", "hostname", "displayName", "devices.status", "osType", "devices.orgId", "siteId"])
    .select("devices.tags")
    .orderBy("devices.hostnameKey")
    .orderBy("devices.id");
  const { data, pagination } = await paginate(query, call.query);
  return { data, total: pagination.total };
}
