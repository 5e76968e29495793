import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

/** Faults that real systems of this kind had. Each is a test whose title names it; here, what it is about. */
const fieldCases: Readonly<Record<string, string>> = {
  C01: "a deleted device frees a use of its enrollment key",
  C02: "a use counter races past its maximum",
  C03: "an enrollment key without an end, or born expired",
  C04: "a show-once secret is readable later",
  C05: "a rotated or revoked key still works",
  C06: "rate-limit headers and windows are wrong",
  C07: "white space around a pasted token",
  C08: "an idempotency key is ignored, or replayed for another body",
  C11: "slugs and lengths outside ASCII",
  C12: "null, empty and omitted are treated alike",
  C13: "wildcards in searches",
  C15: "repeated or structured query parameters",
  C16: "malformed ids and unknown routes",
  C24: "a refresh race signs people out",
  C31: "concurrent writers fork the audit chain",
  C32: "the hash of an entry misses fields, or depends on how they are written",
  C33: "a cut tail passes verification",
  C34: "secrets in audit entries",
  C35: "failed sign-ins are missing",
  C37: "totals and pages ignore the filters",
  C48: "a closed pipe prints a stack trace",
  C49: "secrets in debug output",
  C50: "--json is polluted",
  C51: "pages print several documents",
  C52: "the token file is readable by others",
  C53: "Retry-After is ignored or misread",
  C54: "a dry run changes things",
  C55: "one server gets the token of another",
};

const titles = (): string[] =>
  ["server", "cli", "sdk"]
    .flatMap((folder) => (readdirSync(folder, { recursive: true }) as string[]).map((path) => join(folder, path)))
    .filter((path) => path.endsWith(".test.ts") || path.startsWith("server/test/conformance/sweeps/"))
    .filter((path) => !path.includes("node_modules"))
    .flatMap((path) => [...readFileSync(path, "utf8").matchAll(title)].map(([, text]) => `${path}: ${text}`));

/** The title of an `it`, `test` or `describe`, with or without `.each` and its table. */
const title = /^\s*(?:it|test|describe)\b[^"`\n]*["`](.*)["`],/gm;

it.each(Object.entries(fieldCases))("%s, %s, has a test that names it", (id) => {
  expect(titles().filter((text) => new RegExp(`\\([^()]*\\b${id}\\b[^()]*\\)`).test(text))).not.toEqual([]);
});
