import { expect, it } from "vitest";
import { remembered } from "./remembered.ts";

it("makes of a text what the function makes of it, once, and forgets when it is too much", () => {
  let made = 0;
  const length = remembered((text) => {
    made += 1;
    return text.length;
  });
  expect([length("abc"), length("abc"), length("")]).toEqual([3, 3, 0]);
  expect(made).toBe(2);
  // More characters than it keeps: what came first is made again, and still right.
  for (let at = 0; at < 3_000; at += 1) expect(length(`${at}${"x".repeat(1_000)}`)).toBe(1_000 + String(at).length);
  made = 0;
  expect([length("abc"), made]).toEqual([3, 1]);
});
