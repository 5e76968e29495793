import { expect, it } from "vitest";
import { bursts } from "./bursts.ts";
import { limitsInSource } from "./sweeps/limits.ts";

it("every limit of the server is met by a burst, and every burst is about a limit", () => {
  expect(bursts.map(({ limit }) => limit).toSorted()).toEqual([...new Set(limitsInSource())].toSorted());
});
