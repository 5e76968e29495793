import { expect, it } from "vitest";
import { aboutText, budgetText, estimatedReads } from "./budget.ts";

it("tells of a limit that is reached, and of a time that is waited for, and of neither otherwise", () => {
  const text = (requests: number, perMinute: number, estimatedSeconds: number) =>
    budgetText({ requests, mints: 0, perMinute, estimatedSeconds });
  expect(text(1, 950, 1)).toBe("1 request");
  expect(text(514, 950, 7)).toBe("514 requests, about 7 s");
  expect(text(2_000, 950, 133)).toBe("2000 requests (at most 950 a minute; the API allows 1,000), about 2 min");
  expect(text(2, 1, 61)).toBe("2 requests (at most 1 a minute; the API allows 1,000), about 61 s");
  expect(text(2_000, 0, 13)).toBe("2000 requests (without a limit of its own), about 13 s");
  expect(aboutText(1)).toBe("");
});

it("counts the reads of what is there alone", () => {
  const organization = { slug: "a", name: "A", line: 1, path: "organizations[0]" };
  expect(estimatedReads([])).toBe(0);
  const all = { ...organization, sites: [], contacts: [], enrollmentKeys: [] };
  expect(estimatedReads([organization, all] as unknown as Parameters<typeof estimatedReads>[0])).toBe(3);
});
