import type { Json } from "#server/db/column-types";
import type { Reader } from "#server/db/unit-of-work";
import { type ExportCall, exportPage, revised, walked } from "./export.ts";

const columns = [
  "sites.id",
  "sites.orgId",
  "sites.name",
  "sites.timezone",
  "sites.address",
  "sites.contact",
  "sites.updatedAt",
] as const;

/** The join leaves out sites of organizations that are closed or out of reach. */
const select = (db: Reader) =>
  db.selectFrom("sites").innerJoin("organizations", "organizations.id", "sites.orgId").select(columns);
type Row = Awaited<ReturnType<ReturnType<typeof select>["executeTakeFirstOrThrow"]>>;

export const exportSites = (call: ExportCall) =>
  exportPage(call, "sites", async (walk) => (await walked(select(call.db), "sites", walk).execute()).map(view));

/** One site as the export has it. */
export async function exportedSite(db: Reader, id: string) {
  return revised(view(await select(db).where("sites.id", "=", id).executeTakeFirstOrThrow()));
}

const view = ({ id, orgId, name, timezone, address, contact, updatedAt }: Row) => ({
  id,
  orgId,
  siteId: id,
  sourceUpdatedAt: updatedAt,
  name,
  timezone,
  address: address && addressOf(address),
  contact: contact && contactOf(contact),
});

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
