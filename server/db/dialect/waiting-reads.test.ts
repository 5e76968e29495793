import { expect, it } from "vitest";
import type { Asked } from "./sqlite-thread.ts";
import { WaitingReads } from "./waiting-reads.ts";

const of = (tenant: string | undefined): Asked => ({
  ...{ sql: "select 1", parameters: [], tenant },
  done: () => undefined,
  failed: () => undefined,
});
const held = (...tenants: string[]) => tenants.map((tenant) => ({ asked: of(tenant) }));

it("a tenant whose statements hold all threads but one leaves that one to others and to the server", () => {
  const waiting = new WaitingReads<Asked>();
  for (const tenant of ["slow", "slow", "other", undefined]) waiting.push(of(tenant));
  const threads = held("slow", "slow", "slow");
  expect(waiting.shift(threads, 3)).toMatchObject({ tenant: "other" });
  expect(waiting.shift(threads, 3)).toMatchObject({ tenant: undefined });
  expect(waiting.shift(threads, 3)).toBeUndefined();
  expect(waiting.length).toBe(2);
  expect(waiting.shift(held("slow", "slow"), 3)).toMatchObject({ tenant: "slow" });
});

it("the server's own statements are never the excess, however many wait", () => {
  const waiting = new WaitingReads<Asked>();
  for (let count = 0; count < 9; count += 1) waiting.push(of(undefined));
  const few = of("few");
  const most = [of("most"), of("most"), of("most")];
  for (const asked of [few, ...most]) waiting.push(asked);
  expect(waiting.excess("most")).toBeUndefined();
  expect(waiting.excess("new")).toBe(most[2]);
  expect(waiting.remove(few)).toBe(true);
  expect(waiting.remove(few)).toBe(false);
  expect(waiting.clear()).toHaveLength(12);
});
