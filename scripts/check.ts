import { boundaryFaults } from "./check/boundaries.ts";
import { citationFaults } from "./check/citations.ts";
import { cycleFaults } from "./check/cycles.ts";
import { exitFaults } from "./check/exits.ts";
import { generatedFaults } from "./check/generated.ts";
import { installingFaults } from "./check/installing.ts";
import { migrationFaults } from "./check/migrations.ts";
import { roomFaults } from "./check/rooms.ts";
import { sizeFaults } from "./check/size.ts";
import { unusedFaults } from "./check/unused.ts";
import { wordFaults } from "./check/words.ts";
import { writerFaults } from "./check/writers.ts";

/** Rules that neither compiler nor linter can check: `npm run check` prints every fault and fails if there is one. */
const checks = {
  boundaries: boundaryFaults,
  cycles: cycleFaults,
  rooms: roomFaults,
  writers: writerFaults,
  exits: exitFaults,
  unused: unusedFaults,
  size: sizeFaults,
  words: wordFaults,
  citations: citationFaults,
  generated: generatedFaults,
  installing: installingFaults,
  migrations: migrationFaults,
};

let failed = 0;
for (const [name, faultsOf] of Object.entries(checks)) {
  const faults = await faultsOf();
  failed += faults.length;
  process.stdout.write(
    `${faults.length === 0 ? "ok  " : "FAIL"} ${name}\n${faults.map((fault) => `     ${fault}\n`).join("")}`,
  );
}
process.exitCode = failed === 0 ? 0 : 1;
