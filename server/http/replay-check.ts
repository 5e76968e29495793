import type { UnitOfWork } from "#server/db/unit-of-work";
import { Problem } from "#server/problem";

interface Replayed {
  /** What the first run did before its transaction. */
  prepare(): Promise<void>;
  handle(): Promise<unknown>;
}

class Undone extends Error {}

/**
 * Refuses a replay to a caller who lost access since: the handler runs as it did the first time and all it writes is
 * rolled back. What it refuses for want of access is the answer; any other refusal comes of the first run's own effect.
 */
export async function refuseWithoutAccess(unit: UnitOfWork, { prepare, handle }: Replayed): Promise<void> {
  try {
    await prepare();
    await unit.transaction(async () => {
      await handle();
      throw new Undone();
    });
  } catch (error) {
    if (error instanceof Undone) return;
    if (error instanceof Problem && ![401, 403, 404].includes(error.status)) return;
    throw error;
  }
}
