import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "vitest";

/** Compares with a golden file; `npm run golden` (UPDATE_GOLDEN=1) rewrites it, and the diff is what a reviewer reads. */
export function expectGolden(name: string, value: unknown): void {
  const file = new URL(`../../../fixtures/golden/${name}`, import.meta.url);
  const text = `${JSON.stringify(value, null, 2)}\n`;
  if (process.env["UPDATE_GOLDEN"]) {
    mkdirSync(new URL(".", file), { recursive: true });
    writeFileSync(file, text);
  }
  expect(JSON.parse(text)).toEqual(JSON.parse(readFileSync(file, "utf8")));
}
