import { expect, it } from "vitest";
import { boundaryFaults } from "./check/boundaries.ts";
import { citationFaults } from "./check/citations.ts";
import { cycleFaults } from "./check/cycles.ts";
import { exitFaults } from "./check/exits.ts";
import { installingFaults } from "./check/installing.ts";
import { migrationFaults } from "./check/migrations.ts";
import { roomFaults } from "./check/rooms.ts";
import { sizeFaults } from "./check/size.ts";
import { unusedFaults } from "./check/unused.ts";
import { wordFaults } from "./check/words.ts";
import { writerFaults } from "./check/writers.ts";

it("the tree keeps its rules: boundaries, cycles, rooms, writers, exits, migrations, installing, sizes, citations, no unfinished work", async () => {
  const checks = [
    boundaryFaults,
    cycleFaults,
    roomFaults,
    writerFaults,
    exitFaults,
    unusedFaults,
    migrationFaults,
    installingFaults,
    citationFaults,
  ];
  const faults = await Promise.all([...checks, sizeFaults, wordFaults].map((faultsOf) => faultsOf()));
  expect(faults.flat()).toEqual([]);
});
