import { nearness } from "#contract/core/suggest";

interface Place {
  readonly method: string;
  readonly path: string;
}

const SHOWN = 3;

/** The endpoints that a mistyped path may have meant, closest first: `GET /orgs/organizations`. */
export const nearEndpoints = (all: readonly Place[], { method, path }: Place): string[] =>
  all
    .filter((one) => one.method === method)
    .map((one) => ({ path: one.path, away: distanceTo(path, one.path) }))
    .filter((one): one is { path: string; away: number } => one.away !== undefined)
    .toSorted((a, b) => a.away - b.away || a.path.length - b.path.length)
    .slice(0, SHOWN)
    .map((one) => `${method} ${one.path}`);

/** The methods that a path takes. */
export const methodsAt = (all: readonly Place[], path: string): string[] => [
  ...new Set(all.filter((one) => distanceTo(path, one.path) === 0).map(({ method }) => method)),
];

/** How far a written path is from that of an endpoint, segment by segment; what is missing at its end counts little. */
function distanceTo(written: string, path: string): number | undefined {
  const given = segmentsOf(written);
  const wanted = segmentsOf(path);
  if (given.length === 0 || given.length > wanted.length) return undefined;
  let sum = (wanted.length - given.length) / 10;
  for (const [at, part] of given.entries()) {
    const segment = wanted[at] as string;
    const away = segment.startsWith(":") ? 0 : nearness(part, segment);
    if (away === undefined) return undefined;
    sum += away;
  }
  return sum;
}

const segmentsOf = (path: string): string[] => path.split("/").filter((part) => part !== "");
