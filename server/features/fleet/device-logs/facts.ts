import { maskSecretsIn } from "#server/platform/mask-secrets";

export type Facts = Record<string, unknown>;

export const isObject = (value: unknown): value is Facts =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** Of more fields than these the first are looked at. */
const FIELDS_MAX = 1_000;
/** So many times what is kept is looked at: masks are shorter than what they stand for. */
const READ_TIMES = 4;

/** What else is known of an entry: masked, and as much of it as is kept; null where nothing is. */
export function factsOf(given: unknown, originalTimestamp: string | undefined, maxBytes: number): Facts | null {
  // Cut before it is masked as well: one entry may be as large as the whole body.
  const said = isObject(given) ? (maskSecretsIn(cutFacts(given, READ_TIMES * maxBytes)) as Facts) : {};
  const facts = originalTimestamp === undefined ? said : { ...said, originalTimestamp };
  return Object.keys(facts).length === 0 ? null : cutFacts(facts, maxBytes);
}

/** Without as many of the largest values as it takes. */
function cutFacts(facts: Facts, maxBytes: number): Facts {
  let over = bytesOf(facts) - maxBytes;
  if (over <= 0) return facts;
  const kept: Facts = Object.fromEntries(Object.entries(facts).slice(0, FIELDS_MAX));
  const bySize = Object.entries(kept)
    .map(([name, value]) => ({ name, bytes: bytesOf({ [name]: value }) }))
    .toSorted((a, b) => b.bytes - a.bytes);
  kept["truncated"] = true;
  over = bytesOf(kept) - maxBytes;
  for (const { name, bytes } of bySize) {
    if (over <= 0) break;
    delete kept[name];
    over -= bytes - 1;
  }
  return { ...kept, truncated: true };
}

const bytesOf = (facts: Facts): number => Buffer.byteLength(JSON.stringify(facts));
