import type { Reader } from "#server/db/unit-of-work";
import { COLLECTION_MAX, counted } from "./device-parts.ts";
import { devicesOf, groupsOf } from "./devices.ts";
import { type ExportCall, exportPage } from "./export.ts";
import type { FeedEntry } from "./feed.ts";

/** Where devices belong. Networks are edges too, once they exist. */
export const exportRelationships = (call: ExportCall) => exportPage(call, "device-relationships", edgesOf);

interface End {
  readonly type: "organization" | "site" | "device" | "device_group";
  readonly id: string;
}

const edge = (type: "organization_site" | "site_device" | "device_group", from: End, to: End) => ({
  key: `${type}:${from.id}:${to.id}`,
  type,
  from,
  to,
});

async function edgesOf(db: Reader, entries: readonly FeedEntry[]) {
  const rows = await devicesOf(db, entries).select(["devices.id", "devices.orgId", "devices.siteId"]).execute();
  const groups = await groupsOf(db, entries);
  return new Map(
    rows.map((row) => {
      const device = { type: "device", id: row.id } as const;
      const organization = { type: "organization", id: row.orgId } as const;
      const site = row.siteId === null ? undefined : ({ type: "site", id: row.siteId } as const);
      const edges = [
        ...(site ? [edge("organization_site", organization, site), edge("site_device", site, device)] : []),
        ...(groups.get(row.id) ?? []).map(({ groupId }) =>
          edge("device_group", device, { type: "device_group", id: groupId }),
        ),
      ];
      const collection = counted(edges.length);
      return [row.id, { deviceId: row.id, edges: edges.slice(0, COLLECTION_MAX), collection }] as const;
    }),
  );
}
