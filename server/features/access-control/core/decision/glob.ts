import { foldPath, foldText } from "./fold.ts";
import { remembered } from "./remembered.ts";
import type { Steps, Stepwise } from "./steps.ts";

/** A code point, or one of the wildcards below. */
type Token = number;

/** One character; of a path none that separates. */
const ONE = -1;
const ONE_IN_SEGMENT = -2;
/** Any run of them, also none. */
const RUN = -3;
const RUN_IN_SEGMENT = -4;

const SLASH = 0x2f;

/** A pattern that covers a text or not (docs/privileged-access.md, "Patterns"). */
export interface Glob {
  readonly tokens: readonly Token[];
}

/** `*` within a segment, `**` across segments, `?` one character but `/`. */
export const pathGlob = remembered(
  (pattern: string): Glob => ({
    tokens: tokensOf(foldPath(pattern), { one: ONE_IN_SEGMENT, run: RUN_IN_SEGMENT }),
  }),
);

/** `*` any run, `?` any character; a pattern without either is looked for anywhere. */
export const commandGlob = remembered((pattern: string): Glob => {
  const tokens = tokensOf(foldText(pattern), { one: ONE, run: RUN });
  return { tokens: tokens.some((token) => token < 0) ? tokens : [RUN, ...tokens, RUN] };
});

export const wildcardsOf = (pattern: string): number => pattern.match(/\*{1,2}|\?/g)?.length ?? 0;

function tokensOf(points: readonly number[], wild: { one: Token; run: Token }): Token[] {
  const tokens: Token[] = [];
  for (const point of points) {
    const before = tokens.at(-1);
    if (point === 0x3f) tokens.push(wild.one);
    else if (point !== 0x2a) tokens.push(point);
    else if (before === wild.run || before === RUN) tokens[tokens.length - 1] = RUN;
    else tokens.push(wild.run);
  }
  return tokens;
}

/**
 * Whether the pattern covers the text: token by token, the places of the text that what came before can end at. Each
 * token looks at each place once, so the cost is at most pattern × text, whoever wrote them.
 */
export function* covers({ tokens }: Glob, text: readonly number[], steps: Steps): Stepwise<boolean> {
  let places = [0];
  if (steps.take(tokens.length + text.length)) yield;
  for (const [at, token] of tokens.entries()) {
    if (places.length === 0) return false;
    if (token === RUN && at === tokens.length - 1) return true;
    const next = token === RUN || token === RUN_IN_SEGMENT ? runs(token, places, text) : taken(token, places, text);
    if (steps.take(places.length + next.length)) yield;
    places = next;
  }
  return places.at(-1) === text.length;
}

/** Places after one more character that the token stands for. */
function taken(token: Token, places: readonly number[], text: readonly number[]): number[] {
  const next: number[] = [];
  for (const place of places) {
    const point = text[place];
    if (point === undefined) continue;
    if (point === token || token === ONE || (token === ONE_IN_SEGMENT && point !== SLASH)) next.push(place + 1);
  }
  return next;
}

/** Places after any run from one of them, in order and each once: a run ends before a separator, or with the text. */
function runs(token: Token, places: readonly number[], text: readonly number[]): number[] {
  const next: number[] = [];
  for (const place of places) {
    // The run that reached it goes on as far as one from here would.
    if (place <= (next.at(-1) ?? -1)) continue;
    let end = place;
    next.push(end);
    while (end < text.length && (token === RUN || text[end] !== SLASH)) next.push(++end);
  }
  return next;
}
