import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { appending, countVerification, resting } from "./busy.ts";

let counted: ReturnType<typeof countVerification>;
beforeEach(() => {
  counted = countVerification();
});
afterEach(() => counted.end());

/** How many times as long pieces of work take that last `ms` altogether, because they rest. */
function stretched(memory: Int32Array, ms: number): number {
  const rest = resting(memory);
  let worked = 0;
  const started = performance.now();
  while (worked < ms) {
    const before = performance.now();
    while (performance.now() - before < 0.2);
    worked += performance.now() - before;
    rest();
  }
  return (performance.now() - started) / worked;
}

const sharedOf = (load: number, verifying: number) => {
  const memory = new Int32Array(new SharedArrayBuffer(12));
  memory.set([load, verifying]);
  return memory;
};

it("a verification does not rest where nobody works, and has a tenth of the time beside somebody who always does", () => {
  expect(stretched(sharedOf(0, 1), 60)).toBeLessThan(1.5);
  const whole = stretched(sharedOf(1_000, 1), 60);
  expect(whole).toBeGreaterThan(7);
  expect(whole).toBeLessThan(20);
});

it("several have that tenth together, and rest less where the process is less busy", () => {
  expect(stretched(sharedOf(1_000, 3), 40)).toBeGreaterThan(14);
  const third = stretched(sharedOf(333, 1), 60);
  expect(third).toBeGreaterThan(2.5);
  expect(third).toBeLessThan(7);
});

it("what a verification waits for is no work to rest for", () => {
  const rest = resting(sharedOf(1_000, 1));
  const wait = (ms: number) => {
    for (const end = performance.now() + ms; performance.now() < end; );
  };
  wait(500);
  const started = performance.now();
  for (let piece = 0; piece < 32; piece += 1) rest();
  expect(performance.now() - started).toBeLessThan(250);
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
