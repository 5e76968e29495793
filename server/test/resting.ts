import { expect } from "vitest";
import { appending, countVerification } from "#server/audit/busy";

/** As if so many verified: a slice of work is followed by hours of rest. */
const MORE = 1_000_000;

export interface Rest {
  /** How many chains are verified. */
  verifying(): number;
  goOn(): Promise<void>;
}

/** From now on verifications of this process rest, until they are told to go on. */
export async function restVerifications(): Promise<Rest> {
  const { memory, end } = countVerification();
  const before = Atomics.add(memory, 1, MORE);
  let release = () => {};
  const work = appending(
    () =>
      new Promise<void>((resolve) => {
        release = resolve;
      }),
  );
  await expect.poll(() => memory[0]).toBeGreaterThan(900);
  let over = false;
  return {
    verifying: () => Atomics.load(memory, 1) - before - MORE,
    async goOn() {
      if (over) return;
      over = true;
      release();
      await work;
      Atomics.sub(memory, 1, MORE);
      end();
    },
  };
}
