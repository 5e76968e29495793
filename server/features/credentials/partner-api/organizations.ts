import type { Reader } from "#server/db/unit-of-work";
import { type ExportCall, exportPage, revised, walked } from "./export.ts";

const columns = [
  "organizations.id",
  "organizations.name",
  "organizations.slug",
  "organizations.type",
  "organizations.updatedAt",
] as const;

const select = (db: Reader) => db.selectFrom("organizations").select(columns);
type Row = Awaited<ReturnType<ReturnType<typeof select>["executeTakeFirstOrThrow"]>>;

export const exportOrganizations = (call: ExportCall) =>
  exportPage(call, "organizations", async (walk) =>
    (await walked(select(call.db), "organizations", walk).execute()).map(view),
  );

/** One organization as the export has it. */
export async function exportedOrganization(db: Reader, id: string) {
  return revised(view(await select(db).where("organizations.id", "=", id).executeTakeFirstOrThrow()));
}

const view = ({ id, name, slug, type, updatedAt }: Row) => ({
  id,
  orgId: id,
  siteId: null,
  sourceUpdatedAt: updatedAt,
  name,
  slug,
  type,
});
