import { expect, it } from "vitest";
import { SharedRuns } from "./shared-runs.ts";

it("a partner with long chains leaves a thread to others, and is told to come again", async () => {
  const runs = new SharedRuns<string>();
  const ends: (() => void)[] = [];
  const long = (key: string) => () => new Promise<string>((resolve) => ends.push(() => resolve(key)));
  const [one, two] = [runs.join("one", "greedy", long("one")), runs.join("two", "greedy", long("two"))];
  expect(runs.join("three", "greedy", long("three"))).toBeUndefined();
  expect(runs.join("one", "greedy", long("again"))).toBe(one);
  const other = runs.join("other", "modest", long("other"));
  expect(other).toBeDefined();
  expect(runs.join("late", "third", long("late"))).toBeUndefined();
  expect(ends).toHaveLength(3);
  for (const end of ends.splice(0)) end();
  expect(await Promise.all([one, two, other])).toEqual(["one", "two", "other"]);
  const again = runs.join("three", "greedy", async () => "three");
  expect(await again).toBe("three");
});

it("a run that fails frees its place", async () => {
  const runs = new SharedRuns<string>();
  for (let tried = 0; tried < 4; tried += 1)
    await expect(runs.join("one", "partner", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
});
