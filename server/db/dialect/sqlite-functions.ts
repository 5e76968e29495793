import type { SqliteConnection } from "./sqlite-library.ts";
import { tenantMark } from "./tenant-mark.ts";

/** Place of an id that a list does not hold: after all others. */
export const LAST_PLACE = 2_147_483_647;

/** The functions that statements call (`text.ts`, `ordering.ts`); each connection needs them. */
export function registerTextFunctions(db: SqliteConnection): void {
  // SQLite folds ASCII only; names here are in every script.
  db.function("fold", { deterministic: true }, (value) => (typeof value === "string" ? value.toLowerCase() : value));
  db.function("tenant_mark", { deterministic: true }, (id) => tenantMark(id as string));
  // Reads the list once for all rows of a query.
  let [text, places] = ["[]", new Map<unknown, number>()];
  db.function("place_in", { deterministic: true }, (id, list) => {
    if (list !== text)
      [text, places] = [
        list as string,
        new Map((JSON.parse(list as string) as string[]).map((item, at) => [item, at])),
      ];
    return places.get(id) ?? LAST_PLACE;
  });
}
