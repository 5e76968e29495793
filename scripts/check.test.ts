import { expect, it } from "vitest";
import { boundaryFaults } from "./check/boundaries.ts";
import { citationFaults } from "./check/citations.ts";
import { cycleFaults } from "./check/cycles.ts";
import { sizeFaults } from "./check/size.ts";
import { wordFaults } from "./check/words.ts";

it("the tree keeps its rules: boundaries, cycles, sizes, no unfinished work, citations of pages that exist", async () => {
  const faults = await Promise.all([boundaryFaults(), cycleFaults(), sizeFaults(), wordFaults(), citationFaults()]);
  expect(faults.flat()).toEqual([]);
});
