/** How many edits apart two words are; undefined where one cannot have been meant by the other. */
export function nearness(typed: string, candidate: string): number | undefined {
  const distance = distanceOf(typed.toLowerCase(), candidate.toLowerCase());
  return distance <= Math.max(1, Math.floor(Math.max(typed.length, candidate.length) * 0.4)) ? distance : undefined;
}

/** The candidates that look like what was typed, closest first and of the most similar length, at most three. */
export function suggestions(typed: string, candidates: readonly string[]): string[] {
  const longer = (candidate: string) => Math.abs(candidate.length - typed.length);
  return [...new Set(candidates)]
    .map((candidate) => ({ candidate, distance: nearness(typed, candidate) }))
    .filter((one): one is { candidate: string; distance: number } => one.distance !== undefined)
    .sort((a, b) => a.distance - b.distance || longer(a.candidate) - longer(b.candidate))
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** ` (did you mean online?)`, or nothing. */
export function didYouMean(typed: string, candidates: readonly string[]): string {
  const close = suggestions(typed, candidates);
  return close.length === 0 ? "" : ` (did you mean ${close.join(" or ")}?)`;
}

/** Edit distance of two texts; swapping two neighbours is one edit, and so is being a prefix. */
function distanceOf(a: string, b: string): number {
  if (a === b) return 0;
  if (a.length >= 2 && b.startsWith(a)) return 1;
  const rows = Array.from({ length: a.length + 1 }, (_, i) => [i, ...Array<number>(b.length).fill(0)]);
  for (let j = 1; j <= b.length; j++) rows[0]![j] = j;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1, rows[i - 1]![j - 1]! + same);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) best = Math.min(best, rows[i - 2]![j - 2]! + 1);
      rows[i]![j] = best;
    }
  }
  return rows[a.length]![b.length]!;
}
