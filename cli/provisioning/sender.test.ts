import { describe, expect, it } from "vitest";
import { ConflictError, OutcomeUnknownError, RateLimitError, UnavailableError } from "#sdk/errors";
import { paced, type SenderOptions } from "./sender.ts";

/** A sender whose time stands still but for its own waiting. */
function held(options: Partial<SenderOptions> = {}) {
  const waits: number[] = [];
  const stop = new AbortController();
  let nowMs = 0;
  const sender = paced({
    perMinute: 0,
    signal: stop.signal,
    now: () => nowMs,
    sleep: async (ms) => {
      waits.push(ms);
      nowMs += ms;
    },
    ...options,
  });
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { sender, waits, stop, pass };
}

const failing = (errors: unknown[]) => async () => {
  if (errors.length > 0) throw errors.shift();
  return "ok";
};

describe("sending many calls", () => {
  it("never sends more than the budget in any minute", async () => {
    const { sender, waits, pass } = held({ perMinute: 3 });
    for (let n = 0; n < 3; n++) {
      await sender.send(async () => n);
      pass(10_000);
    }
    await sender.send(async () => 3);
    expect(waits).toEqual([30_000]);
    await sender.send(async () => 4);
    expect(waits).toEqual([30_000, 10_000]);
    expect(sender.sent).toBe(5);
  });

  it("waits as long as a 429 says, and for a request that is still running", async () => {
    const { sender, waits } = held();
    const limited = new RateLimitError("slow", { outcome: "rejected", code: "RATE_LIMITED", retryAfterMs: 17_000 });
    const running = new ConflictError("wait", { outcome: "rejected", code: "IDEMPOTENCY_IN_FLIGHT" });
    expect(await sender.send(failing([limited, running]))).toBe("ok");
    expect(waits).toEqual([17_000, 1_000]);
  });

  it("tells of the first wait for a request in flight, and waits for it no longer than 75 seconds", async () => {
    const told: string[] = [];
    const { sender, waits } = held({ onWait: (ms, why) => told.push(`${ms} ${why}`) });
    const running = new ConflictError("wait", { outcome: "rejected", code: "IDEMPOTENCY_IN_FLIGHT" });
    await sender.send(failing([running]));
    expect(told).toEqual(["1000 an earlier run's request is still in flight; at most 75 s"]);
    const forever = () => Promise.reject(running);
    await expect(sender.send(forever)).rejects.toBe(running);
    expect(waits.length).toBeLessThanOrEqual(75);
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(75_000);
  });

  it("tells of short waits for the rate once they add up", async () => {
    const told: number[] = [];
    const { sender } = held({ onWait: (ms) => told.push(ms) });
    const limited = (ms: number) => new RateLimitError("slow", { outcome: "rejected", retryAfterMs: ms });
    await sender.send(failing([limited(2_000), limited(2_000), limited(2_000)]));
    expect(told).toEqual([2_000]);
  });

  it("sends every attempt of a read itself", async () => {
    const { sender, waits } = held();
    const seen: unknown[] = [];
    const down = new UnavailableError("down", { outcome: "rejected", retryable: true, retryAfterMs: 3_000 });
    const errors = [down];
    const read = async (options: object) => {
      seen.push(options);
      if (errors.length > 0) throw errors.shift();
      return "ok";
    };
    expect(await sender.read(read)).toBe("ok");
    expect(seen).toMatchObject([{ retries: 0 }, { retries: 0 }]);
    expect(waits).toEqual([3_000]);
  });

  it("repeats only what may be repeated", async () => {
    const { sender, waits } = held();
    const down = () => new UnavailableError("down", { outcome: "rejected", retryable: true });
    const lost = () => new OutcomeUnknownError("lost", { outcome: "unknown" });
    expect(await sender.send(failing([down(), lost()]), { repeatable: true })).toBe("ok");
    expect(waits).toEqual([500, 1_000]);
    await expect(sender.send(failing([lost()]))).rejects.toThrow("lost");
    await expect(sender.send(failing([down(), down(), down()]), { repeatable: true })).rejects.toThrow("down");
  });

  it("sends nothing more once interrupted", async () => {
    const { sender, stop } = held();
    stop.abort();
    let called = false;
    const call = async () => {
      called = true;
    };
    await expect(sender.send(call)).rejects.toMatchObject({ code: "INTERRUPTED" });
    expect(called).toBe(false);
  });
});
