import { expect, it } from "vitest";
import { Turns } from "./turns.ts";

it("runs work of one key in order, past work that fails, and keeps nothing of it", async () => {
  const turns = new Turns();
  const seen: string[] = [];
  const work =
    (name: string, fails = false) =>
    async () => {
      seen.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
  const [a, b, c] = await Promise.allSettled([
    turns.take("one", work("a", true)),
    turns.take("one", work("b")),
    turns.take("two", work("c")),
  ]);
  expect([a.status, b.status, c.status]).toEqual(["rejected", "fulfilled", "fulfilled"]);
  expect(seen.indexOf("b begins")).toBeGreaterThan(seen.indexOf("a ends"));
  expect(seen.indexOf("c begins")).toBeLessThan(seen.indexOf("a ends"));
});
