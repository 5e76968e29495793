import { expect, it } from "vitest";
import { planExtract } from "./plan-text.ts";
import type { PlanItem, PlanView } from "./plan-view.ts";

const item = (at: number): PlanItem => ({
  ...{ action: "create", kind: "site", key: `acme/S${at}`, organization: "acme", id: null },
  ...{ changes: [], item: { line: at, name: `S${at}` }, refused: null },
});
const summary = { create: 0, update: 0, delete: 0, deliver: 0, person: 0, held: 0, refused: 0, unchanged: 7, notes: 0 };
const view = (count: number) =>
  ({
    ...{ partnerId: null, budget: {}, notes: [] },
    summary: { ...summary, create: count },
    items: Array.from({ length: count }, (_, at) => item(at)),
  }) as unknown as PlanView;

it("before a question stand the numbers, then as much of the plan as a screen holds, and how to see the rest", () => {
  const extract = (count: number) =>
    planExtract(view(count), { coloured: false, all: "`rmm plan x` shows all" }).split("\n");
  const long = extract(3_000);
  expect(long[0]).toBe("3000 to create, 7 unchanged");
  expect(long).toHaveLength(43);
  expect(long.slice(-3)).toEqual(["+ create site acme / S39", "… 2960 more lines: `rmm plan x` shows all", ""]);
  expect(extract(2)).toEqual(["2 to create, 7 unchanged", "+ create site acme / S0", "+ create site acme / S1", ""]);
});
