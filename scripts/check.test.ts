import { expect, it } from "vitest";
import { boundaryFaults } from "./check/boundaries.ts";
import { cycleFaults } from "./check/cycles.ts";
import { installingFaults } from "./check/installing.ts";
import { sizeFaults } from "./check/size.ts";
import { wordFaults } from "./check/words.ts";

it("the tree keeps its rules: boundaries, cycles, installing, sizes, no unfinished work", async () => {
  const faults = await Promise.all([boundaryFaults(), cycleFaults(), installingFaults(), sizeFaults(), wordFaults()]);
  expect(faults.flat()).toEqual([]);
});
