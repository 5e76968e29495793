/** Few enough that a server with one core still answers others. */
export const CONCURRENCY = 4;

/** Maps in order with at most `width` at once; the first failure rejects after those in hand have ended. */
export async function inParallel<T, R>(
  items: readonly T[],
  work: (item: T, at: number) => Promise<R>,
  width = CONCURRENCY,
): Promise<R[]> {
  const results: R[] = new Array(items.length);
  const failures: unknown[] = [];
  let next = 0;
  const run = async () => {
    while (next < items.length && failures.length === 0) {
      const at = next++;
      try {
        results[at] = await work(items[at] as T, at);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, run));
  if (failures.length > 0) throw failures[0];
  return results;
}
