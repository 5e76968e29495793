import { prepared } from "#server/db/prepared";
import type { Reader } from "#server/db/unit-of-work";
import { problem } from "#server/problem";

export const filterColumns = [
  "savedFilters.id",
  "savedFilters.orgId",
  "savedFilters.name",
  "savedFilters.description",
  "savedFilters.conditions",
  "savedFilters.createdBy",
  "savedFilters.createdAt",
  "savedFilters.updatedAt",
] as const;

/** NOT_FOUND, also for another tenant's. */
export async function getFilter(db: Reader, id: string) {
  const row = await byId(db, { id });
  if (!row) throw problem("NOT_FOUND");
  return row;
}

const byId = prepared(["id"], (db, at) => db.selectFrom("savedFilters").select(filterColumns).where("id", "=", at.id));
