import { expect, it } from "vitest";
import { newPriorities, type Placed } from "./new-priorities.ts";

/** Numbers that are the same every time. */
function* numbers(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield state / 2_147_483_648;
  }
}

const asServer = (a: Placed, b: Placed) =>
  a.priority - b.priority || a.createdAt.localeCompare(b.createdAt) || a.id.localeCompare(b.id);

it("brings any rules into any order with whole numbers from 0 to 100,000, and changes none that may stay", () => {
  const next = numbers(7);
  const random = (below: number) => Math.floor(next.next().value! * below);
  for (let round = 0; round < 2_000; round++) {
    const width = [3, 20, 100_001][random(3)]!;
    const order = Array.from({ length: 1 + random(12) }, (_, at): Placed => {
      return { id: `id-${at}`, priority: random(width), createdAt: `2026-01-0${1 + random(3)}` };
    });
    const changed = newPriorities(order);
    const after = order.map((rule) => ({ ...rule, priority: changed.get(rule.id) ?? rule.priority }));
    expect(after.toSorted(asServer).map(({ id }) => id)).toEqual(order.map(({ id }) => id));
    for (const { priority } of after)
      expect(Number.isInteger(priority) && priority >= 0 && priority <= 100_000).toBe(true);
    for (const rule of order) expect(changed.get(rule.id)).not.toBe(rule.priority);
    expect(newPriorities(after).size).toBe(0);
  }
});

it("overtakes no rule by one behind it on the way, wherever the run ends", () => {
  const next = numbers(11);
  const random = (below: number) => Math.floor(next.next().value! * below);
  let steps = 0;
  for (let round = 0; round < 500; round++) {
    const width = [3, 20, 100_001][random(3)]!;
    const order = Array.from({ length: 1 + random(8) }, (_, at): Placed => {
      return { id: `id-${at}`, priority: random(width), createdAt: `2026-01-0${1 + random(3)}` };
    });
    let now = order;
    for (const [id, priority] of newPriorities(order)) {
      now = now.map((rule) => (rule.id === id ? { ...rule, priority } : rule));
      steps += 1;
      for (let behind = 1; behind < order.length; behind++)
        for (let before = 0; before < behind; before++)
          if (asServer(order[before]!, order[behind]!) < 0 && asServer(now[before]!, now[behind]!) > 0)
            expect.fail(JSON.stringify({ order, now }));
    }
  }
  expect(steps).toBeGreaterThan(500);
});

it("changes one priority to move one rule", () => {
  const at = (id: string, priority: number): Placed => ({ id, priority, createdAt: "2026-01-01" });
  expect([...newPriorities([at("c", 30), at("a", 10), at("b", 20)])]).toEqual([["c", 4]]);
  expect([...newPriorities([at("b", 20), at("a", 10)])]).toEqual([["a", 30]]);
  // Behind the last number there is none.
  expect(newPriorities([at("b", 100_000), at("a", 10)]).size).toBe(2);
});
