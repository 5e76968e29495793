import { readFileSync } from "node:fs";
import { trackedFiles } from "../../../scripts/check/sources.ts";
import type { Tree } from "./case-faults.ts";

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // in the index, gone from the work tree
  }
};

/** The tests of the work tree: what vitest runs, and the sweeps that it runs once for each database. */
export function readTree(): Tree {
  const paths = [...trackedFiles("*.test.ts"), ...trackedFiles("server/test/conformance/sweeps/*.ts")];
  const tests = new Map(paths.map((path) => [path, read(path) ?? ""]));
  return { tests, helper: (path) => tests.get(path) ?? read(path) };
}
