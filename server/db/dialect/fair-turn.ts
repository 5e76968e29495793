const HELD_MS = 10;
let turnBeganMs: number | undefined;

/** Lets the event loop turn where work has held it for a while. */
export async function fairTurn(): Promise<void> {
  if (loopWaits()) await nextTurn();
}

/**
 * Whether the event loop has not turned for a while: this database answers at once, so work that goes from row to row
 * would otherwise let no request in until it is done.
 */
function loopWaits(): boolean {
  const nowMs = performance.now();
  if (turnBeganMs !== undefined) return nowMs - turnBeganMs > HELD_MS;
  turnBeganMs = nowMs;
  setImmediate(() => {
    turnBeganMs = undefined;
  });
  return false;
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
