import type { UnitOfWork } from "#server/db/unit-of-work";
import { Problem } from "#server/problem";

interface Replayed {
  /** What the first run did before its transaction. */
  prepare(): Promise<void>;
  handle(): Promise<unknown>;
}

class Undone extends Error {}

/** Of what the first run itself changed: it exists already, is gone, or was the last that there may be. */
const OF_FIRST_RUN: readonly number[] = [400, 409, 410, 422];

/**
 * Refuses a replay to a caller who lost access since: the handler runs as it did the first time and all it writes is
 * rolled back. Whatever kept it from finding out refuses too, such as a limit that stands before a password.
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
    if (error instanceof Problem && passes(error)) return;
    throw error;
  }
}

const passes = ({ status, options }: Problem): boolean =>
  (options.onReplay ?? (OF_FIRST_RUN.includes(status) ? "passes" : "refuses")) === "passes";
