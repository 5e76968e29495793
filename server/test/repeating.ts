import { it } from "vitest";
import { PROOF_TIMEOUT_MS } from "./proving.ts";

/** Tests of races, each of which is run so many times. */
export const repeating = (rounds: number) => (name: string, work: () => Promise<void>) =>
  it(
    `${name}, ${rounds} times`,
    async () => {
      for (let round = 0; round < rounds; round += 1) await work();
    },
    PROOF_TIMEOUT_MS,
  );
