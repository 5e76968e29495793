import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { databases, startTestServer, type TestServer } from "../../test/harness.ts";
import { apply, changeRing, oldestOf, type Ring, total, turn } from "./rate-ring.ts";

const expiresAt = "2030-01-01T00:00:00.000Z";

describe.each(databases)("the ring of a rate limit on %s", (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(database);
  });
  afterAll(() => server?.stop());

  const change = (key: string, bucket: number, max: number, amount: number) => {
    const { store } = server.services;
    return changeRing(store.volatile, store.dialect, { key, bucket, max, amount, expiresAt });
  };

  it("does at every step what its arithmetic says: clocks that step, limits that change, several at once, given back", async () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) & 0x7fff_ffff;
      return (seed >> 8) % below;
    };
    const pick = (values: readonly number[]) => values[random(values.length)] as number;
    let bucket = 1_000_000;
    let model: Ring | undefined;
    for (let step = 0; step < 500; step += 1) {
      bucket += pick([0, 0, 0, 0, 1, 1, 3, -1, -2, 59, 60, 61, 62, -70, 4_000, -4_000]);
      const max = pick([5, 8, 3, 20]);
      const amount = pick([1, 1, 1, 2, 3, 0, -1, -2, 5]);
      const before = model;
      const turned = turn(model, bucket);
      const { allowed, changed } = apply(turned, max, amount);
      if (changed || (before && turned.head < before.head)) model = turned;
      const told = `step ${step}: bucket ${bucket}, max ${max}, amount ${amount}`;
      const state = await change("steps", bucket, max, amount);
      expect(state, told).toEqual({ allowed, used: total(turned), oldest: oldestOf(turned) });
      expect(state.used, told).toBeGreaterThanOrEqual(0);
    }
  });

  it("a clock that was wrong by years and is corrected locks no one out for years, and forgets no call", async () => {
    const now = 30_000;
    const wrong = now + 5_000_000;
    for (let call = 0; call < 3; call += 1) await change("years", wrong, 3, 1);
    for (const amount of [0, 1]) {
      expect(await change("years", now, 3, amount)).toEqual({ allowed: false, used: 3, oldest: now });
    }
    expect(await change("years", now + 60, 3, 1)).toMatchObject({ allowed: false });
    expect(await change("years", now + 61, 3, 1)).toMatchObject({ allowed: true, used: 1 });
  });

  it("takes exactly the limit when all come at once, on both sides of a bucket's end", async () => {
    const taken = await Promise.all(
      Array.from({ length: 100 }, (_, call) => change("all", 50_000 + (call % 2), 37, 1)),
    );
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(37);
  });
});
