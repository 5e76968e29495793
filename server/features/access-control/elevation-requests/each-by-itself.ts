/**
 * Does work for one after the other; what fails holds up none of the others. Throws in the end if something failed, so that
 * the log has it and the next run tries again.
 */
export async function eachByItself<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  for (const one of all) await work(one).catch((error: unknown) => void failures.push(error));
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} of ${all.length} failed: ${String(failures[0])}`);
}
