import { expect, it } from "vitest";
import { instantOf } from "./field-value.ts";

const NOW = Date.parse("2026-03-02T09:00:00.000Z");
const read = (text: string, where: "query" | "body") => instantOf(text, { source: "--since", nowMs: NOW, where });

it.each([
  ["1h", "2026-03-02T08:00:00.000Z", "2026-03-02T10:00:00.000Z"],
  ["24h", "2026-03-01T09:00:00.000Z", "2026-03-03T09:00:00.000Z"],
  ["1h30m", "2026-03-02T07:30:00.000Z", "2026-03-02T10:30:00.000Z"],
  ["-7d", "2026-02-23T09:00:00.000Z", "2026-02-23T09:00:00.000Z"],
  ["+1h", "2026-03-02T10:00:00.000Z", "2026-03-02T10:00:00.000Z"],
])("%s is %s where it asks for what has happened, and %s where it says what will", (text, past, future) => {
  expect([read(text, "query"), read(text, "body")]).toEqual([past, future]);
});

it.each(["1x", "h", "24", "yesterday", "99999999w"])("%s is no time", (text) => {
  for (const where of ["query", "body"] as const) expect(() => read(text, where)).toThrow(/--since (must|is)/);
});
