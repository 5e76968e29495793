import type { Reader } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { type ExportCall, exportedRow, exportPage } from "./export.ts";
import { type FeedEntry, feedEntry, idsOf } from "./feed.ts";

export const exportOrganizations = (call: ExportCall) => exportPage(call, "organizations", rowsOf);

/** One organization as the export has it. */
export async function exportedOrganization(call: Call, db: Reader, id: string) {
  const entry = await feedEntry({ who: call.who, db }, "organizations", id, id);
  return exportedRow(entry, (await rowsOf(db, [entry])).get(id) as ExportedOrganizationFields);
}

/** What the export shows of an organization. */
export interface ExportedOrganizationFields {
  name: string;
  slug: string;
  type: "customer" | "internal";
}

async function rowsOf(db: Reader, entries: readonly FeedEntry[]): Promise<Map<string, ExportedOrganizationFields>> {
  const rows = await db
    .selectFrom("organizations")
    .select(["id", "name", "slug", "type"])
    .where("id", "in", idsOf(entries))
    .execute();
  return new Map(rows.map(({ id, ...row }) => [id, row]));
}
