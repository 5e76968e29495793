import { afterEach, describe, expect, test } from "vitest";
import { createClient } from "./client.ts";
import { OutcomeUnknownError, RateLimitError, UnavailableError } from "./errors.ts";
import { nodeTransport } from "./node.ts";
import type { ClientOptions } from "./options.ts";
import { backoffMs, parseRetryAfter, retryBudget } from "./retry.ts";
import { type Handler, refusal, type Stub, stubServer } from "./stub-server.ts";

const now = Date.UTC(2026, 0, 1);
const id = "018f0000-0000-7000-8000-000000000001";
let stub: Stub;
afterEach(() => stub?.close());

async function client(handler: Handler, options: Partial<ClientOptions> = {}) {
  stub = await stubServer(handler);
  return createClient({
    baseUrl: stub.url,
    transport: nodeTransport(),
    credentials: { token: "user-token" },
    retryBudget: retryBudget(),
    random: () => 0.01,
    ...options,
  });
}

describe("Retry-After (C53)", () => {
  test("reads seconds and dates, and nothing else", () => {
    expect(parseRetryAfter("2", now)).toBe(2000);
    expect(parseRetryAfter("0.25", now)).toBe(250);
    expect(parseRetryAfter("86400", now)).toBe(86_400_000);
    expect(parseRetryAfter(new Date(now + 3000).toUTCString(), now)).toBe(3000);
    expect(parseRetryAfter(new Date(now - 3000).toUTCString(), now)).toBe(0);
    for (const long of ["86401", "2592000", "9".repeat(400), "Fri, 31 Dec 9999 23:59:59 GMT"])
      expect(parseRetryAfter(long, now), "no timer waits longer than 24 days").toBe(86_400_000);
    for (const garbage of [null, "", "soon", "-1", "1e3", "NaN", "12 monkeys"]) {
      expect(parseRetryAfter(garbage, now), String(garbage)).toBeUndefined();
    }
  });

  test("is waited for in full", async () => {
    const waits: number[] = [];
    const rmm = await client(
      (_, __, count) => (count === 1 ? refusal(429, "RATE_LIMITED", {}, { "retry-after": "0.2" }) : { body: { id } }),
      { hooks: { onRetry: ({ waitMs }) => waits.push(waitMs) } },
    );
    const started = performance.now();
    await rmm.sites.get({ params: { id } });
    expect(performance.now() - started).toBeGreaterThanOrEqual(195);
    expect(waits).toEqual([200]);
  });

  test("longer than allowed fails at once and says when to come back", async () => {
    const rmm = await client(() =>
      refusal(
        429,
        "RATE_LIMITED",
        {},
        { "retry-after": "86400", "x-ratelimit-limit": "1000", "x-ratelimit-remaining": "0" },
      ),
    );
    const error = await rmm.sites.get({ params: { id } }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ limit: 1000, remaining: 0, retryable: true, outcome: "rejected" });
    expect((error as RateLimitError).retryAt?.getTime()).toBeGreaterThan(Date.now() + 86_000_000);
    expect(stub.seen).toHaveLength(1);
  });

  test("that makes no sense falls back to backoff", async () => {
    const rmm = await client((_, __, count) =>
      count === 1 ? refusal(503, "SERVICE_UNAVAILABLE", {}, { "retry-after": "soon" }) : { body: { id } },
    );
    await rmm.sites.get({ params: { id } });
    expect(stub.seen).toHaveLength(2);
  });
});

describe("retries", () => {
  test("backoff doubles to a cap, with full jitter", () => {
    expect([1, 2, 3, 9].map((attempt) => backoffMs(attempt, () => 1))).toEqual([250, 500, 1000, 8000]);
    expect(backoffMs(3, () => 0)).toBe(0);
  });

  test("a POST that is not idempotent is sent once without a key (C53)", async () => {
    const rmm = await client(() => refusal(503, "SERVICE_UNAVAILABLE"));
    await expect(rmm.auditLogs.verify()).rejects.toBeInstanceOf(UnavailableError);
    expect(stub.seen).toHaveLength(1);
  });

  test("a POST with a key is repeated with the same key", async () => {
    const rmm = await client((_, __, count) =>
      count < 3 ? refusal(503, "SERVICE_UNAVAILABLE") : { body: { ok: true } },
    );
    await rmm.auditLogs.verify({}, { idempotencyKey: "pipeline-run-42" });
    expect(stub.seen.map(({ headers }) => headers["x-idempotency-key"])).toEqual(Array(3).fill("pipeline-run-42"));
  });

  test("an idempotent POST gets one key for all its attempts", async () => {
    const rmm = await client((_, __, count) => (count < 3 ? refusal(503, "SERVICE_UNAVAILABLE") : { body: { id } }));
    await rmm.apiKeys.rotate({ params: { id } });
    const keys = stub.seen.map(({ headers }) => headers["x-idempotency-key"]);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[\x21-\x7e]{8,128}$/);
  });

  test("a PATCH and a state conflict are never repeated", async () => {
    const rmm = await client(({ method }) =>
      method === "PATCH"
        ? refusal(503, "SERVICE_UNAVAILABLE")
        : refusal(409, "INVALID_STATE", {}, { "retry-after": "0" }),
    );
    await expect(rmm.sites.update({ params: { id }, body: { name: "x" } })).rejects.toMatchObject({ status: 503 });
    await expect(rmm.sites.remove({ params: { id } })).rejects.toMatchObject({
      code: "INVALID_STATE",
      retryable: false,
    });
    expect(stub.seen).toHaveLength(2);
  });

  test("retries of the call win over those of the client", async () => {
    const rmm = await client(() => refusal(503, "SERVICE_UNAVAILABLE"));
    await expect(rmm.sites.get({ params: { id } }, { retries: 0 })).rejects.toThrow();
    expect(stub.seen).toHaveLength(1);
    await expect(rmm.sites.get({ params: { id } }, { retries: 4 })).rejects.toThrow();
    expect(stub.seen).toHaveLength(6);
  });

  test("a shared budget ends a storm", async () => {
    const rmm = await client(() => refusal(503, "SERVICE_UNAVAILABLE"), {
      retryBudget: retryBudget({ capacity: 5, share: 0 }),
    });
    const calls = Array.from({ length: 20 }, () => rmm.sites.get({ params: { id } }));
    await Promise.allSettled(calls);
    expect(stub.seen).toHaveLength(25);
  });

  test("a domain answer of 502 or 503 is not a passing state", async () => {
    const rmm = await client(() => refusal(503, "NOT_CONFIGURED", { details: { setting: "X" } }));
    await expect(rmm.sites.get({ params: { id } })).rejects.toMatchObject({
      retryable: false,
      details: { setting: "X" },
    });
    expect(stub.seen).toHaveLength(1);
  });
});

describe("a connection that breaks", () => {
  const cut: Handler = (_, response) => {
    response.socket?.destroy();
    return undefined;
  };

  test("leaves the outcome of a POST unknown, with the key that makes it safe to repeat", async () => {
    const rmm = await client(cut);
    const error = await rmm.enrollmentKeys
      .create({ body: { name: "x", orgId: id } }, { idempotencyKey: "pipeline-run-42", retries: 1 })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toMatchObject({ idempotencyKey: "pipeline-run-42", outcome: "unknown", retryable: true });
    expect(stub.seen).toHaveLength(2);
  });

  test("is followed by waiting for the first try, while the server says that it still runs", async () => {
    const rmm = await client((seen, response, count) => {
      if (count === 1) return cut(seen, response, count);
      return count === 2 ? refusal(409, "IDEMPOTENCY_IN_FLIGHT") : { status: 201, body: { id } };
    });
    const made = await rmm.enrollmentKeys.create({ body: { name: "x", orgId: id } });
    expect(made).toEqual({ id });
    expect(new Set(stub.seen.map(({ headers }) => headers["x-idempotency-key"])).size).toBe(1);
  });

  test("in the middle of the body is as unknown as before it", async () => {
    const rmm = await client((_, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"id":', () => response.socket?.destroy());
      return undefined;
    });
    await expect(rmm.auditLogs.verify()).rejects.toMatchObject({
      name: "OutcomeUnknownError",
      code: "CONNECTION_LOST",
    });
  });

  test("is repeated for a GET", async () => {
    const rmm = await client((seen, response, count) => (count < 3 ? cut(seen, response, count) : { body: { id } }));
    expect(await rmm.sites.get({ params: { id } })).toEqual({ id });
  });

  test("before anything was sent is known to have done nothing", async () => {
    const rmm = await client(() => ({}));
    await stub.close();
    const error = await rmm.auditLogs.verify().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "ConnectionError", outcome: "not_sent", details: { reason: "ECONNREFUSED" } });
  });

  test("after an attempt that may have been done stays unknown, whatever the last attempt says", async () => {
    const rmm = await client((seen, response, count) =>
      count === 1 ? cut(seen, response, count) : refusal(503, "SERVICE_UNAVAILABLE"),
    );
    const error = await rmm.apiKeys.rotate({ params: { id } }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "OutcomeUnknownError", code: "SERVICE_UNAVAILABLE", outcome: "unknown" });
    expect(stub.seen).toHaveLength(3);
  });
});
