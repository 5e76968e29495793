import { expect, it } from "vitest";
import { momentText } from "./moment.ts";

const now = new Date(2026, 2, 2, 14, 2, 18).getTime();
const after = (seconds: number) => momentText(now + seconds * 1000, now);

it("a moment is told by how long it is away and by the clock of this machine", () => {
  expect([after(42), after(-5), after(600), after(3 * 3600), after(30 * 3600), after(72 * 3600)]).toEqual([
    "in 42 s (at 14:03)",
    "in 0 s (at 14:02)",
    "in 10 min (at 14:12)",
    "in 3 h (at 17:02)",
    "in 30 h (at 2026-03-03 20:02)",
    "in 3 days (at 2026-03-05 14:02)",
  ]);
});
