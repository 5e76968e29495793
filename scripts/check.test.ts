import { expect, it } from "vitest";
import { boundaryFaults } from "./check/boundaries.ts";
import { citationFaults } from "./check/citations.ts";
import { cycleFaults } from "./check/cycles.ts";
import { installingFaults } from "./check/installing.ts";
import { sizeFaults } from "./check/size.ts";
import { wordFaults } from "./check/words.ts";

it("the tree keeps its rules: boundaries, cycles, installing, sizes, no unfinished work, citations of pages that exist", async () => {
  const faults = await Promise.all([
    boundaryFaults(),
    cycleFaults(),
    installingFaults(),
    sizeFaults(),
    wordFaults(),
    citationFaults(),
  ]);
  expect(faults.flat()).toEqual([]);
});
