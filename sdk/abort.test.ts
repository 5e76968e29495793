import { afterEach, expect, test } from "vitest";
import { createClient } from "./client.ts";
import { AbortedError, OutcomeUnknownError, TimeoutError } from "./errors.ts";
import { nodeTransport } from "./node.ts";
import type { ClientOptions } from "./options.ts";
import { retryBudget } from "./retry.ts";
import { type Handler, refusal, type Stub, stubServer } from "./stub-server.ts";
import { fetchTransport } from "./transport.ts";

const id = "018f0000-0000-7000-8000-000000000001";
const silent: Handler = () => undefined;
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

test("an abort during a wait ends it at once, and the process keeps no timer (C53)", async () => {
  const rmm = await client(() => refusal(429, "RATE_LIMITED", {}, { "retry-after": "30" }));
  const controller = new AbortController();
  const started = performance.now();
  const call = rmm.sites.get({ params: { id } }, { signal: controller.signal });
  setTimeout(() => controller.abort(), 100);
  const error = await call.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AbortedError);
  expect(error).toMatchObject({ name: "AbortError", code: "ABORTED" });
  expect(performance.now() - started).toBeLessThan(2000);
});

test.each([
  ["node", nodeTransport()],
  ["fetch", fetchTransport()],
])("an abort in flight cancels the request (%s)", async (_, transport) => {
  let closed = false;
  const rmm = await client(
    (__, response) => {
      response.on("close", () => {
        closed = true;
      });
      return undefined;
    },
    { transport },
  );
  const controller = new AbortController();
  const call = rmm.sites.get({ params: { id } }, { signal: controller.signal });
  call.catch(() => undefined);
  await expect.poll(() => stub.seen.length).toBe(1);
  controller.abort();
  await expect(call).rejects.toBeInstanceOf(AbortedError);
  await expect.poll(() => closed).toBe(true);
});

test("a signal that is aborted already sends nothing", async () => {
  const rmm = await client(silent);
  const call = rmm.sites.get({ params: { id } }, { signal: AbortSignal.abort() });
  await expect(call).rejects.toMatchObject({ name: "AbortError", outcome: "not_sent" });
  expect(stub.seen).toHaveLength(0);
});

test("an attempt that takes too long is given up and repeated", async () => {
  const rmm = await client((_, __, count) => (count === 1 ? undefined : { body: { id } }), { attemptTimeoutMs: 100 });
  expect(await rmm.sites.get({ params: { id } })).toEqual({ id });
});

test("the total time ends a call whatever its retries", async () => {
  const rmm = await client(silent, { attemptTimeoutMs: 100, retries: 1000 });
  const started = performance.now();
  const call = rmm.sites.get({ params: { id } }, { timeoutMs: 350, attemptTimeoutMs: 100 });
  await expect(call).rejects.toBeInstanceOf(TimeoutError);
  expect(performance.now() - started).toBeLessThan(1500);
});

test("time that runs out on a change leaves its outcome unknown", async () => {
  const rmm = await client(silent);
  const call = rmm.sites.update({ params: { id }, body: { name: "x" } }, { timeoutMs: 100 });
  await expect(call).rejects.toBeInstanceOf(OutcomeUnknownError);
});
