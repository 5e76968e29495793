import type { Json } from "#server/db/column-types";
import type { Reader } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { type ExportCall, exportedRow, exportPage } from "./export.ts";
import { type FeedEntry, feedEntry, idsOf } from "./feed.ts";

export const exportSites = (call: ExportCall) => exportPage(call, "sites", rowsOf);

/** One site as the export has it. */
export async function exportedSite(call: Call, db: Reader, { id, orgId }: { id: string; orgId: string }) {
  const entry = await feedEntry({ who: call.who, db }, "sites", id, orgId);
  return exportedRow(entry, (await rowsOf(db, [entry])).get(id) as ExportedSiteFields);
}

/** What the export shows of a site. */
export interface ExportedSiteFields {
  name: string;
  timezone: string;
  address: ReturnType<typeof addressOf> | null;
  contact: ReturnType<typeof contactOf> | null;
}

async function rowsOf(db: Reader, entries: readonly FeedEntry[]): Promise<Map<string, ExportedSiteFields>> {
  const rows = await db
    .selectFrom("sites")
    .select(["id", "name", "timezone", "address", "contact"])
    .where("id", "in", idsOf(entries))
    .execute();
  return new Map(
    rows.map(({ id, name, timezone, address, contact }) => [
      id,
      { name, timezone, address: address && addressOf(address), contact: contact && contactOf(contact) },
    ]),
  );
}

/** A site's address and contact are free objects; the export gives their well-known texts. */
const textOf = (from: Json, name: string): string | null => (typeof from[name] === "string" ? from[name] : null);

const addressOf = (from: Json) => ({
  line1: textOf(from, "line1"),
  line2: textOf(from, "line2"),
  city: textOf(from, "city"),
  region: textOf(from, "region"),
  postalCode: textOf(from, "postalCode"),
  country: textOf(from, "country"),
});

const contactOf = (from: Json) => ({
  name: textOf(from, "name"),
  email: textOf(from, "email"),
  phone: textOf(from, "phone"),
});
