import type { Kysely } from "kysely";
import { type Database, ownership, type TableName } from "#server/db/tables";

export interface Owners {
  readonly partnerIds?: readonly string[];
  readonly orgIds?: readonly string[];
}

/** Ids of all rows that these partners and organizations own, their audit entries included, and their own. */
export async function idsOfRows(db: Kysely<Database>, owners: Owners): Promise<Set<string>> {
  const ids = new Set([...(owners.partnerIds ?? []), ...(owners.orgIds ?? [])]);
  for (const [table, owner] of Object.entries(ownership) as [TableName, string][]) {
    const columns = owner.startsWith("tenant") ? (["orgId", "partnerId"] as const) : columnOf(owner);
    for (const column of columns) {
      const of = column === "orgId" ? owners.orgIds : owners.partnerIds;
      if (!of || of.length === 0) continue;
      const rows = await db
        .selectFrom(table as "roles")
        .selectAll()
        .where(column, "in", of)
        .execute();
      for (const { id } of rows) if (typeof id === "string") ids.add(id);
    }
  }
  return ids;
}

function columnOf(owner: string): readonly ("orgId" | "partnerId")[] {
  if (owner.startsWith("org") && owner !== "organizations") return ["orgId"];
  if (owner === "sites") return ["orgId"];
  return owner === "partner" || owner === "organizations" ? ["partnerId"] : [];
}

const uuids = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Every uuid in a value, in order. */
export const uuidsIn = (value: unknown): string[] =>
  [...JSON.stringify(value ?? null).matchAll(uuids)].map(([id]) => id);

/** The ids that occur anywhere in a value. */
export const knownIn = (value: unknown, known: ReadonlySet<string>): string[] =>
  uuidsIn(value).filter((id) => known.has(id));
