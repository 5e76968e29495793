import { readFileSync } from "node:fs";
import { trackedFiles } from "../../../scripts/check/sources.ts";
import type { Tree } from "./case-faults.ts";

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // deleted, but still in the index
  }
};

/** The test files of the working tree, and the sweeps, which run once for each database. */
export function readTree(): Tree {
  const paths = [...trackedFiles("*.test.ts"), ...trackedFiles("server/test/conformance/sweeps/*.ts")];
  const tests = new Map(paths.map((path) => [path, read(path) ?? ""]));
  return { tests, helper: (path) => tests.get(path) ?? read(path) };
}
