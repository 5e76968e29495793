import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { appending, countVerification, resting } from "./busy.ts";

let counted: ReturnType<typeof countVerification>;
beforeEach(() => {
  counted = countVerification();
});
afterEach(() => counted.end());

/** A thread in a time of its own, in which nobody else takes the processor. */
function thread(memory: Int32Array) {
  let now = 0;
  const rest = resting(memory, {
    now: () => now,
    wait: (_, ms) => {
      now += ms;
    },
  });
  const work = (ms: number) => {
    now += ms;
    rest();
  };
  return { work, now: () => now };
}

/** How many times as long pieces of work take that last 400 ms altogether, because they rest. */
function stretched(memory: Int32Array): number {
  const { work, now } = thread(memory);
  for (let piece = 0; piece < 2_000; piece += 1) work(0.2);
  return now() / 400;
}

const sharedOf = (load: number, verifying: number) => {
  const memory = new Int32Array(new SharedArrayBuffer(12));
  memory.set([load, verifying]);
  return memory;
};

it("a verification does not rest where nobody works, and has a tenth of the time beside somebody who always does", () => {
  expect(stretched(sharedOf(0, 1))).toBeCloseTo(1, 5);
  const whole = stretched(sharedOf(1_000, 1));
  expect(whole).toBeGreaterThan(9);
  expect(whole).toBeLessThan(12);
});

it("several have that tenth together, and rest less where the process is less busy", () => {
  expect(stretched(sharedOf(1_000, 3))).toBeGreaterThan(27);
  expect(stretched(sharedOf(1_000, 3))).toBeLessThan(33);
  expect(stretched(sharedOf(333, 1))).toBeGreaterThan(3.5);
  expect(stretched(sharedOf(333, 1))).toBeLessThan(5);
});

it("what a verification waits for is no work to rest for", () => {
  const { work, now } = thread(sharedOf(1_000, 1));
  work(60_000);
  for (let piece = 0; piece < 32; piece += 1) work(0);
  expect(now()).toBeLessThan(60_200);
});

it("threads are told of appends that wait for a database, and of their end", async () => {
  const { memory } = counted;
  let over = false;
  const work = appending(async () => {
    while (!over) await setTimeout(5);
  });
  await expect.poll(() => memory[0], { timeout: 5_000 }).toBeGreaterThan(900);
  over = true;
  await work;
  await expect.poll(() => memory[0], { timeout: 5_000 }).toBeLessThan(500);
});

it("threads are told that the event loop is busy, and how many verify", async () => {
  const { memory } = counted;
  expect(memory[1]).toBe(1);
  const second = countVerification();
  expect(memory[1]).toBe(2);
  const busy = async () => {
    for (const end = performance.now() + 40; performance.now() < end; );
    await setTimeout(0);
    return memory[0];
  };
  await expect.poll(busy, { timeout: 5_000, interval: 1 }).toBeGreaterThan(700);
  second.end();
  expect(memory[1]).toBe(1);
});

it("appends that fail count no longer", async () => {
  await expect(appending(() => Promise.reject(new Error("full")))).rejects.toThrow("full");
  await expect.poll(() => counted.memory[0], { timeout: 5_000 }).toBeLessThan(500);
});
