import { expect } from "vitest";
import { appending, countVerification } from "#server/audit/busy";

/** As if so many verified: a slice of work is followed by hours of rest. */
const VERIFYING = 1_000_000;

/** From now on verifications of this process rest, until the returned function is called. */
export async function restVerifications(): Promise<() => Promise<void>> {
  const { memory, end } = countVerification();
  Atomics.add(memory, 1, VERIFYING);
  let release = () => {};
  const work = appending(
    () =>
      new Promise<void>((resolve) => {
        release = resolve;
      }),
  );
  await expect.poll(() => memory[0]).toBeGreaterThan(900);
  let over = false;
  return async () => {
    if (over) return;
    over = true;
    release();
    await work;
    Atomics.sub(memory, 1, VERIFYING);
    end();
  };
}
