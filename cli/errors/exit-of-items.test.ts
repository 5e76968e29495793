import { expect, it } from "vitest";
import { exitOfItems, type ItemsRun } from "./exit-of-items.ts";

const run = (facts: Partial<ItemsRun>): ItemsRun => ({ done: 0, failed: [], skipped: 0, interrupted: false, ...facts });

it.each([
  [{ done: 3 }, "ok"],
  [{}, "ok"],
  [{ done: 1, failed: ["conflict"] }, "partial"],
  [{ done: 1, failed: ["tryLater"], skipped: 4 }, "partial"],
  [{ failed: ["conflict", "conflict"], skipped: 2 }, "conflict"],
  [{ failed: ["tryLater"] }, "tryLater"],
  [{ failed: ["forbidden"], skipped: 9 }, "forbidden"],
  [{ failed: ["conflict", "tryLater"] }, "failure"],
  [{ skipped: 2 }, "failure"],
  [{ failed: ["partial"] }, "partial"],
  [{ done: 2, failed: ["unknown"] }, "unknown"],
  [{ done: 2, skipped: 1, interrupted: true }, "interrupted"],
  [{ done: 2, interrupted: true }, "ok"],
] as const)("a run over items that went like %o ends with %s", (facts, exit) => {
  expect(exitOfItems(run(facts))).toBe(exit);
});
