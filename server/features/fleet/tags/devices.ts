import type { Endpoint } from "#contract/core/endpoint";
import type { tags } from "#contract/resources/fleet/tags";
import { orgsInList } from "#server/access/org-access";
import type { DialectName } from "#server/db/dialect/index";
import { hasElement } from "#server/db/dialect/json";
import { preparedPage } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { taggedDevices } from "./tagged.ts";

type DevicesCall = typeof tags.devices extends Endpoint<infer T> ? Call<T> : never;

/** Devices that carry a tag, spelled as it is (docs/fleet.md, "Tags"). */
export async function listTaggedDevices(call: DevicesCall) {
  const { dialect } = call.services.store;
  const { data, pagination } = await pageOf(call.db, call.query, { tag: call.query.tag }, { dialect });
  return { data, total: pagination.total };
}

const pageOf = preparedPage((db, { tag }: { tag: string }, { dialect }: { dialect: DialectName }) =>
  taggedDevices(db)
    .where("devices.orgId", "in", orgsInList(undefined))
    .where((eb) => hasElement(eb.ref("devices.tags"), tag, dialect))
    .select(["devices.id", "hostname", "displayName", "devices.status", "osType", "devices.orgId", "siteId"])
    .select("devices.tags")
    .orderBy("devices.hostnameKey")
    .orderBy("devices.id"),
);
