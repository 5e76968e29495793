import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HOUR, MINUTE } from "#server/platform/clock";
import { problem } from "#server/problem";
import { databases, startTestServer, type TestServer } from "../test/harness.ts";
import { underLimits } from "./attempts.ts";

describe.each(databases)("rate limits on %s", (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(database);
  });
  afterAll(() => server?.stop());

  const hourly = (max: number) => ({ name: `test-${max}`, max, windowSeconds: 3_600 });

  it("counts down, refuses, and frees one slot when the oldest call leaves the window", async () => {
    const limit = hourly(5);
    const take = () => server.services.limiter.take(limit, "steps");
    const remaining = [];
    for (let call = 0; call < 5; call += 1) {
      remaining.push((await take()).remaining);
      server.clock.advance(10 * MINUTE);
    }
    expect(remaining).toEqual([4, 3, 2, 1, 0]);
    const refused = await take();
    expect(refused).toMatchObject({ allowed: false, remaining: 0 });
    // Refused calls consume nothing: asking every minute does not push the window out.
    let waited = 0;
    while (!(await take()).allowed) {
      server.clock.advance(MINUTE);
      waited += 1;
    }
    expect(waited).toBeGreaterThanOrEqual(10);
    expect(waited).toBeLessThanOrEqual(11);
    expect((await take()).allowed).toBe(false);
  });

  it("admits exactly the limit of parallel calls, leased ones too", async () => {
    for (const how of ["take", "takeLeased"] as const) {
      const taken = await Promise.all(
        Array.from({ length: 50 }, () => server.services.limiter[how](hourly(10), `parallel-${how}`)),
      );
      expect(taken.filter((allowance) => allowance.allowed)).toHaveLength(10);
    }
  });

  it("never admits more than the limit in any true hour, however bursty", async () => {
    const limit = hourly(40);
    const admitted: number[] = [];
    let seed = 42;
    const random = () => {
      seed = (seed * 1_664_525 + 1_013_904_223) >>> 0;
      return seed / 2 ** 32;
    };
    for (let burst = 0; burst < 60; burst += 1) {
      server.clock.advance(Math.floor(random() * 20 * MINUTE));
      for (let call = 0; call < 12; call += 1) {
        server.clock.advance(Math.floor(random() * 2_000));
        if ((await server.services.limiter.take(limit, "bursts")).allowed) admitted.push(server.clock.nowMs());
      }
    }
    const most = Math.max(...admitted.map((start) => admitted.filter((at) => at >= start && at < start + HOUR).length));
    expect(most).toBeLessThanOrEqual(40);
    expect(most).toBeGreaterThan(30);
  });

  it("of an attempt are given back unless it failed, or another of its limits refuses it", async () => {
    const { services } = server;
    const [wide, narrow] = [hourly(3), hourly(2)];
    const left = async () => [
      (await services.limiter.peek(wide, "who")).remaining,
      (await services.limiter.peek(narrow, "who")).remaining,
    ];
    const attempt = (ends: () => unknown) =>
      underLimits(
        services,
        [
          [wide, "who"],
          [narrow, "who"],
        ],
        async () => ends(),
      );
    const failing = (error: unknown) => () => {
      throw error;
    };
    expect(await attempt(() => "right")).toBe("right");
    for (const error of [new Error("a fault"), problem("SERVICE_UNAVAILABLE"), problem("RATE_LIMITED")])
      await expect(attempt(failing(error))).rejects.toBe(error);
    expect(await left()).toEqual([3, 2]);
    const wrong = problem("INVALID_MFA_CODE");
    for (const remaining of [
      [2, 1],
      [1, 0],
    ]) {
      await expect(attempt(failing(wrong))).rejects.toBe(wrong);
      expect(await left()).toEqual(remaining);
    }
    await expect(attempt(failing(wrong))).rejects.toMatchObject({ code: "RATE_LIMITED" });
    expect(await left()).toEqual([1, 0]);
  });

  it("looks without taking, and gives back what did not fail", async () => {
    const { limiter } = server.services;
    const limit = hourly(1);
    expect((await limiter.peek(limit, "look")).remaining).toBe(1);
    await limiter.take(limit, "look");
    expect((await limiter.peek(limit, "look")).allowed).toBe(false);
    await limiter.giveBack(limit, "look");
    expect((await limiter.take(limit, "look")).allowed).toBe(true);
  });
});
