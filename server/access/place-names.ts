import { among } from "#server/db/dialect/json";
import { preparedRows } from "#server/db/prepared";
import type { Reader } from "#server/db/unit-of-work";

/** Adds the names of organizations to a page of a list: one query for the whole page (docs/conventions.md, "Lists and pages"). */
export async function withOrgNames<R extends { orgId: string | null }>(db: Reader, rows: readonly R[]) {
  const names = await namesIn(
    db,
    "organizations",
    rows.map(({ orgId }) => orgId),
  );
  return rows.map((row) => ({ ...row, orgName: nameOf(names, row.orgId) }));
}

/** Adds the names of sites, in the same way. */
export async function withSiteNames<R extends { siteId: string | null }>(db: Reader, rows: readonly R[]) {
  const names = await namesIn(
    db,
    "sites",
    rows.map(({ siteId }) => siteId),
  );
  return rows.map((row) => ({ ...row, siteName: nameOf(names, row.siteId) }));
}

const nameOf = (names: ReadonlyMap<string, string>, id: string | null): string | null =>
  id === null ? null : (names.get(id) ?? null);

async function namesIn(
  db: Reader,
  table: "organizations" | "sites",
  mentioned: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(mentioned.flatMap((id) => id ?? []))];
  if (ids.length === 0) return new Map();
  const rows = await named(db, { ids }, { table });
  return new Map(rows.map(({ id, name }) => [id, name]));
}

const named = preparedRows(
  (db, { ids }: { ids: string[] }, { table }: { table: "organizations" | "sites" }) =>
    db
      .selectFrom(table)
      .select(["id", "name"])
      .where((eb) => among(db, eb.ref("id"), ids)),
  { by: "key" },
);
