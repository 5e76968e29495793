import { idsNamed, type NameSearch } from "./dialect/device-names.ts";
import { preparedRows } from "./prepared.ts";
import type { Reader } from "./unit-of-work.ts";

/**
 * Ids that the index of names gives (`nameSearch`), `most` of them: of more, any. Candidates only: the query that uses
 * them narrows them to what the caller reaches.
 */
export async function namedIds(db: Reader, search: NameSearch, most: number): Promise<string[]> {
  const [row] = await named(db, { ...search, most }, null);
  return JSON.parse(row?.ids ?? "[]") as string[];
}

const named = preparedRows((db, search: NameSearch & { most: number }) =>
  db.selectNoFrom([idsNamed(search).as("ids")]),
);
