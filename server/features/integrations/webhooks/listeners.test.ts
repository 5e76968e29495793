import { expect, it } from "vitest";
import type { Problem } from "#server/problem";
import { asListener } from "./listeners.ts";

/** Asks for all of them at once; answers how many wait, and which limits refused the others. */
async function burst(orgs: readonly { id: string; partnerId: string }[]) {
  let go: () => void = () => undefined;
  const open = new Promise<void>((resolve) => {
    go = resolve;
  });
  let waiting = 0;
  const limits: unknown[] = [];
  const calls = orgs.map((org) =>
    asListener(org, () => {
      waiting += 1;
      return open;
    }).catch((error: Problem) => void limits.push(error.options.details)),
  );
  await new Promise((resolve) => setImmediate(resolve));
  const end = async () => {
    go();
    await Promise.all(calls);
  };
  return { waiting: () => waiting, limits, end };
}
const organizations = (partnerId: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: `${partnerId}-${n}`, partnerId }));
const times = <T>(count: number, list: readonly T[]) => Array.from({ length: count }, () => list).flat();

it("that wait at once are four of an organization and sixteen of a partner, so that others find a place", async () => {
  const one = await burst(times(6, organizations("one", 1)));
  const two = await burst(times(4, organizations("two", 16)));
  const three = await burst(organizations("three", 1));
  expect([one.waiting(), two.waiting(), three.waiting()]).toEqual([4, 16, 1]);
  expect(one.limits).toEqual(times(2, [{ limit: "webhook-listeners" }]));
  expect(two.limits).toEqual(times(48, [{ limit: "webhook-listeners-partner" }]));
  await Promise.all([one.end(), two.end(), three.end()]);
  const again = await burst(times(4, organizations("two", 16)));
  expect(again.waiting(), "their places are free again").toBe(16);
  await again.end();
});

it("are 64 in a process, whoever's they are", async () => {
  const all = await burst(Array.from({ length: 8 }, (_, n) => times(4, organizations(`partner-${n}`, 4))).flat());
  expect([all.waiting(), all.limits.length]).toEqual([64, 64]);
  await all.end();
});
