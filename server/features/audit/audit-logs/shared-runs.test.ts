import { expect, it } from "vitest";
import { SharedRuns } from "./shared-runs.ts";

const stays = new AbortController().signal;

it("a partner with long chains leaves a thread to others, and is told to come again", async () => {
  const runs = new SharedRuns<string>();
  const ends: (() => void)[] = [];
  const ask = (key: string, partner: string) =>
    runs.join({
      ...{ key, partner, until: stays },
      work: () => new Promise<string>((resolve) => ends.push(() => resolve(key))),
    });
  const [one, two] = [ask("one", "greedy"), ask("two", "greedy")];
  expect(ask("three", "greedy")).toBeUndefined();
  const again = ask("one", "greedy");
  const other = ask("other", "modest");
  expect(other).toBeDefined();
  expect(ask("late", "third")).toBeUndefined();
  expect(ends).toHaveLength(3);
  for (const end of ends.splice(0)) end();
  expect(await Promise.all([one, two, again, other])).toEqual(["one", "two", "one", "other"]);
  const three = ask("three", "greedy");
  for (const end of ends) end();
  expect(await three).toBe("three");
});

it("a run that fails frees its place", async () => {
  const runs = new SharedRuns<string>();
  const work = () => Promise.reject(new Error("no"));
  for (let tried = 0; tried < 4; tried += 1)
    await expect(runs.join({ key: "one", partner: "partner", until: stays, work })).rejects.toThrow("no");
});

/** Runs that end a while after they were told to. */
function ending() {
  const runs = new SharedRuns<string>();
  const begun: { key: string; until: AbortSignal; end(): void }[] = [];
  const ask = (key: string, until: AbortSignal = stays) =>
    runs.join({
      ...{ key, partner: "partner", until },
      work: (deserted) =>
        new Promise<string>((resolve, reject) => {
          const end = () => (deserted.aborted ? reject(deserted.reason) : resolve(`result of ${key}`));
          begun.push({ key, until: deserted, end });
        }),
    });
  return { ask, begun };
}

it("a run ends when the last who waited has left, who hears of its end, and is joined by nobody then", async () => {
  const { ask, begun } = ending();
  const [first, last] = [new AbortController(), new AbortController()];
  const [one, two, other] = [ask("a", first.signal), ask("a", last.signal), ask("b")];
  first.abort();
  await expect(one).rejects.toBe(first.signal.reason);
  expect(begun[0]?.until.aborted).toBe(false);
  last.abort();
  expect(begun[0]?.until.aborted).toBe(true);
  expect(ask("a"), "its place is taken until it has ended").toBeUndefined();
  begun[0]?.end();
  await expect(two).rejects.toBe(last.signal.reason);
  const fresh = ask("a");
  expect(begun.map(({ key }) => key)).toEqual(["a", "b", "a"]);
  for (const { end } of begun) end();
  expect(await Promise.all([other, fresh])).toEqual(["result of b", "result of a"]);
});

it("whoever left before it began begins nothing", async () => {
  const { ask, begun } = ending();
  await expect(ask("a", AbortSignal.abort("left"))).rejects.toBe("left");
  expect(begun).toEqual([]);
});
