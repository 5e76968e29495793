/** The result of `work`, or of `late` after the time limit. Every wait of the command has a limit. */
export async function waitAtMost<T>(limitMs: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** `3 s`, `2 min`. */
export const spelledMs = (ms: number): string =>
  ms >= 120_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 100) / 10} s`;
