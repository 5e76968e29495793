import { expect, it } from "vitest";
import { boundaryFaults } from "./check/boundaries.ts";
import { cycleFaults } from "./check/cycles.ts";
import { sizeFaults } from "./check/size.ts";
import { wordFaults } from "./check/words.ts";

it("the tree keeps its rules: boundaries, cycles, sizes, no unfinished work", async () => {
  const faults = await Promise.all([boundaryFaults(), cycleFaults(), sizeFaults(), wordFaults()]);
  expect(faults.flat()).toEqual([]);
});
