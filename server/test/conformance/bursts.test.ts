import { expect, it } from "vitest";
import { bursts } from "./bursts/index.ts";
import { limitsInSource } from "./sweeps/limits.ts";

it("every limit of the server has a burst, and every burst has a limit", () => {
  expect([...new Set(bursts.map(({ limit }) => limit))].toSorted()).toEqual([...new Set(limitsInSource())].toSorted());
});
