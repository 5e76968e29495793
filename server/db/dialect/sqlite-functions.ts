import { momentOf } from "#contract/core/filters/moments";
import { numberOf } from "#contract/core/filters/read-value";
import { foldCase } from "#contract/core/patterns/any-case";
import { type Pattern, readPattern } from "../../platform/linear-pattern.ts";
import type { Place } from "./filter-values.ts";
import type { SqliteConnection } from "./sqlite-library.ts";
import { tenantMark } from "./tenant-mark.ts";

/** Place of an id that a list does not hold: after all others. */
export const LAST_PLACE = 2_147_483_647;

/** The functions that statements call (`text.ts`, `ordering.ts`); each connection needs them. */
export function registerTextFunctions(db: SqliteConnection): void {
  // SQLite folds ASCII only; names here are in every script.
  db.function("fold", { deterministic: true }, (value) => (typeof value === "string" ? value.toLowerCase() : value));
  db.function("tenant_mark", { deterministic: true }, (id) => tenantMark(id as string));
  // What filters ask of texts (docs/filters.md).
  const patterns = new Map<string, Pattern>();
  db.function("pattern_found", { deterministic: true }, (source, text) =>
    typeof text === "string" ? Number(patternOf(patterns, source as string).finds(text)) : null,
  );
  db.function("has_text", { deterministic: true }, (text, folded, place) =>
    typeof text === "string" ? Number(has[place as Place](foldCase(text), folded as string)) : null,
  );
  db.function("number_of", { deterministic: true }, (text) => numberOf(text) ?? null);
  db.function("instant_of", { deterministic: true }, (text) => {
    const moment = momentOf(text as string);
    return moment ? new Date(moment.ms).toISOString() : null;
  });
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

const has: Readonly<Record<Place, (text: string, part: string) => boolean>> = {
  anywhere: (text, part) => text.includes(part),
  start: (text, part) => text.startsWith(part),
  end: (text, part) => text.endsWith(part),
};

const PATTERNS_MAX = 50;

function patternOf(known: Map<string, Pattern>, source: string): Pattern {
  const found = known.get(source);
  if (found) return found;
  const read = readPattern(source);
  if ("refused" in read) throw new Error(`the pattern ${read.refused}`);
  if (known.size >= PATTERNS_MAX) known.clear();
  known.set(source, read);
  return read;
}
