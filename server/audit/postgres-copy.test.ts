import { expect, it } from "vitest";
import { pgTimestampMs } from "./postgres-copy.ts";

it("a moment has one text alone, whatever type its column was given", () => {
  expect(pgTimestampMs("2026-03-02 09:05:05.5+00")).toBe(Date.parse("2026-03-02T09:05:05.500Z"));
  expect(pgTimestampMs("2028-02-29 23:59:59+00")).toBe(Date.parse("2028-02-29T23:59:59.000Z"));
  for (const text of [
    "2026-03-02 09:04:65.5+00",
    "2026-03-02 08:65:05.5+00",
    "2026-03-01 33:05:05.5+00",
    "2026-03-02 24:00:00+00",
    "2026-02-30 09:05:05.5+00",
    "2026-03-02 09:05:05.50+00",
    "2026-03-02 09:05:05.0+00",
  ])
    expect([text, pgTimestampMs(text)]).toEqual([text, Number.NaN]);
});
