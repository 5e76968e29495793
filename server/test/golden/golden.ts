import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "vitest";

/** Compares with a golden file, or rewrites it (`npm run golden` sets UPDATE_GOLDEN=1); reviewers read its diff. */
export function expectGolden(name: string, value: unknown): void {
  const file = new URL(`../../../fixtures/golden/${name}`, import.meta.url);
  const text = `${JSON.stringify(value, null, 2)}\n`;
  if (process.env["UPDATE_GOLDEN"]) {
    mkdirSync(new URL(".", file), { recursive: true });
    writeFileSync(file, text);
  }
  expect(JSON.parse(text)).toEqual(JSON.parse(readFileSync(file, "utf8")));
}
