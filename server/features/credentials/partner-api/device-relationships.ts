import type { Reader } from "#server/db/unit-of-work";
import { counted } from "./device-parts.ts";
import { devicesOf } from "./devices.ts";
import { type ExportCall, exportPage } from "./export.ts";
import type { FeedEntry } from "./feed.ts";

/** Where devices belong. Groups and networks are edges too, once they exist. */
export const exportRelationships = (call: ExportCall) => exportPage(call, "device-relationships", edgesOf);

interface End {
  readonly type: "organization" | "site" | "device";
  readonly id: string;
}

const edge = (type: "organization_site" | "site_device", from: End, to: End) => ({
  key: `${type}:${from.id}:${to.id}`,
  type,
  from,
  to,
});

async function edgesOf(db: Reader, entries: readonly FeedEntry[]) {
  const rows = await devicesOf(db, entries).select(["devices.id", "devices.orgId", "devices.siteId"]).execute();
  return new Map(
    rows.map((row) => {
      const device = { type: "device", id: row.id } as const;
      const organization = { type: "organization", id: row.orgId } as const;
      const site = row.siteId === null ? undefined : ({ type: "site", id: row.siteId } as const);
      const edges = site ? [edge("organization_site", organization, site), edge("site_device", site, device)] : [];
      return [row.id, { deviceId: row.id, edges, collection: counted(edges.length) }] as const;
    }),
  );
}
