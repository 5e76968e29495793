import { afterEach, describe, expect, test } from "vitest";
import { createClient } from "./client.ts";
import { CredentialError, UnauthenticatedError } from "./errors.ts";
import { nodeTransport } from "./node.ts";
import { memoryStore, type SessionStore, type SessionTokens } from "./session.ts";
import { type Handler, refusal, type Stub, stubServer } from "./stub-server.ts";

const id = "018f0000-0000-7000-8000-000000000001";
let stub: Stub;
afterEach(() => stub?.close());

const bearer = (headers: Record<string, unknown>) => String(headers["authorization"]).replace("Bearer ", "");
const pair = (n: number) => ({
  accessToken: `access-${n}`,
  refreshToken: `refresh-${n}`,
  tokenType: "Bearer",
  expiresIn: 900,
});

/** Accepts only the newest access token; each refresh token works once. */
function sessionServer(delayMs = 30): Handler {
  let current = 1;
  return async ({ path, headers, body }) => {
    if (path === "/api/v1/auth/refresh") {
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      if ((body as { refreshToken: string }).refreshToken !== `refresh-${current}`) {
        return refusal(401, "INVALID_REFRESH_TOKEN");
      }
      current += 1;
      return { body: pair(current) };
    }
    return bearer(headers) === `access-${current}` ? { body: { id, current } } : refusal(401, "UNAUTHENTICATED");
  };
}

async function clientWith(tokens: SessionTokens | { store: SessionStore }, handler = sessionServer()) {
  stub = await stubServer(handler);
  return createClient({ baseUrl: stub.url, transport: nodeTransport(), credentials: tokens });
}

const refreshes = () => stub.seen.filter(({ path }) => path.endsWith("/auth/refresh")).length;

describe("a user session", () => {
  test("is refreshed once for 20 calls that find the token about to end (C24)", async () => {
    const rmm = await clientWith({
      accessToken: "access-1",
      refreshToken: "refresh-1",
      expiresAtMs: Date.now() + 59_000,
    });
    const answers = await Promise.all(Array.from({ length: 20 }, () => rmm.sites.get({ params: { id } })));
    expect(answers).toHaveLength(20);
    expect(refreshes()).toBe(1);
    expect(stub.seen.filter(({ headers }) => bearer(headers) === "access-1")).toHaveLength(0);
  });

  test("is refreshed once for 20 calls that are refused at the same time", async () => {
    const rmm = await clientWith({
      accessToken: "stale",
      refreshToken: "refresh-1",
      expiresAtMs: Date.now() + 600_000,
    });
    await Promise.all(Array.from({ length: 20 }, () => rmm.sites.get({ params: { id } })));
    expect(refreshes()).toBe(1);
  });

  test("is not refreshed again when the new token is refused too", async () => {
    const rmm = await clientWith(
      { accessToken: "stale", refreshToken: "r", expiresAtMs: Date.now() + 600_000 },
      ({ path }) => (path.endsWith("/auth/refresh") ? { body: pair(9) } : refusal(401, "UNAUTHENTICATED")),
    );
    await expect(rmm.sites.get({ params: { id } })).rejects.toBeInstanceOf(UnauthenticatedError);
    expect(refreshes()).toBe(1);
  });

  test("a wrong password is no reason to refresh", async () => {
    const rmm = await clientWith({ accessToken: "a", refreshToken: "r", expiresAtMs: Date.now() + 600_000 }, () =>
      refusal(401, "INVALID_PASSWORD"),
    );
    const call = rmm.passwords.change({ body: { currentPassword: "wrong-one", newPassword: "Better-one1" } });
    await expect(call).rejects.toMatchObject({ code: "INVALID_PASSWORD" });
    expect(refreshes()).toBe(0);
  });

  test("the new pair is stored before it is used, and two clients of one store burn one refresh token (C24)", async () => {
    const writes: string[] = [];
    let held: SessionTokens | undefined = { accessToken: "stale", refreshToken: "refresh-1" };
    let queue: Promise<unknown> = Promise.resolve();
    const store: SessionStore = {
      read: async () => held,
      write: async (tokens) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        held = tokens;
        writes.push(tokens.accessToken);
      },
      clear: async () => {
        held = undefined;
      },
      withLock: (work) => {
        const next = queue.then(work);
        queue = next.catch(() => undefined);
        return next;
      },
    };
    const one = await clientWith({ store });
    const two = createClient({ baseUrl: stub.url, transport: nodeTransport(), credentials: { store } });
    await Promise.all([one.sites.get({ params: { id } }), two.sites.get({ params: { id } })]);
    expect(writes).toEqual(["access-2"]);
    expect(refreshes()).toBe(1);
  });

  test("a refresh that cannot be had leaves a token that still works in use", async () => {
    const tokens = { accessToken: "access-1", refreshToken: "r", expiresAtMs: Date.now() + 30_000 };
    const rmm = await clientWith(tokens, ({ path }) =>
      path.endsWith("/auth/refresh") ? refusal(503, "SERVICE_UNAVAILABLE") : { body: { id } },
    );
    expect(await rmm.sites.get({ params: { id } })).toEqual({ id });
  });

  test("one caller that gives up does not cost the others their refresh", async () => {
    const rmm = await clientWith(
      { accessToken: "stale", refreshToken: "refresh-1", expiresAtMs: Date.now() + 10 },
      sessionServer(200),
    );
    const controller = new AbortController();
    const lost = rmm.sites.get({ params: { id } }, { signal: controller.signal });
    const kept = rmm.sites.get({ params: { id } });
    setTimeout(() => controller.abort(), 50);
    await expect(lost).rejects.toMatchObject({ name: "AbortError", outcome: "not_sent" });
    expect(await kept).toMatchObject({ id });
    expect(refreshes()).toBe(1);
  });

  test("goes on with the pair that a step-up answers", async () => {
    const rmm = await clientWith(
      { accessToken: "a", refreshToken: "r", expiresAtMs: Date.now() + 600_000 },
      ({ path }) => (path.endsWith("/step-up") ? { body: pair(7) } : { body: { id } }),
    );
    await rmm.mfa.stepUp({ body: { code: "123456" } });
    await rmm.sites.get({ params: { id } });
    expect(bearer(stub.seen.at(-1)?.headers ?? {})).toBe("access-7");
  });

  test("signing in is adopted only when asked, and forgetting it sends nothing more", async () => {
    const store = memoryStore();
    const rmm = await clientWith({ store }, ({ path }) => ({
      body: path.endsWith("/login") ? { ...pair(3), mfaRequired: false } : { id },
    }));
    await expect(rmm.sites.get({ params: { id } })).rejects.toMatchObject({
      code: "NOT_SIGNED_IN",
      outcome: "not_sent",
    });
    const answer = await rmm.sessions.login({ body: { email: "a@b.example", password: "x" } });
    expect(stub.seen.at(-1)?.headers["authorization"]).toBeUndefined();
    if (!answer.mfaRequired) await rmm.auth.adopt(answer);
    await rmm.sites.get({ params: { id } });
    expect(bearer(stub.seen.at(-1)?.headers ?? {})).toBe("access-3");
    await rmm.auth.forget();
    await expect(rmm.sites.get({ params: { id } })).rejects.toMatchObject({ code: "NOT_SIGNED_IN" });
    expect(await store.read()).toBeUndefined();
  });
});

test("a credential that cannot open an endpoint is refused before anything is sent", async () => {
  stub = await stubServer(() => ({}));
  const rmm = createClient({ baseUrl: stub.url, credentials: { apiKey: "svc_0123456789abcdef" } });
  const error = await rmm.sites.list().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(CredentialError);
  expect(String(error)).toContain("a signed-in user");
  expect(stub.seen).toHaveLength(0);
});
