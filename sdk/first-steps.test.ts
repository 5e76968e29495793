import { afterEach, describe, expect, test } from "vitest";
import { createClient } from "./client.ts";
import { AbortedError, CredentialError, NotFoundError, ValidationError } from "./errors.ts";
import type { Deprecation } from "./index.ts";
import { isErrorOf, RmmError } from "./index.ts";
import { nodeTransport } from "./node.ts";
import type { ClientOptions } from "./options.ts";
import { retryBudget } from "./retry.ts";
import { type Handler, refusal, type Stub, stubServer } from "./stub-server.ts";

const id = "018f0000-0000-7000-8000-000000000001";
let stub: Stub;
afterEach(() => stub?.close());

async function client(handler: Handler, options: Partial<ClientOptions> = {}) {
  stub = await stubServer(handler);
  const credentials = { token: "user-token" };
  return createClient({ baseUrl: stub.url, transport: nodeTransport(), credentials, random: () => 0, ...options });
}

describe("an address that cannot work is refused when the client is made", () => {
  test.each([
    [undefined, "baseUrl is missing"],
    ["  ", "baseUrl is missing"],
    ["rmm.example", 'must start with http:// or https://: "rmm.example"'],
    ["localhost:3000", 'must start with http:// or https://: "localhost:3000"'],
    ["ftp://rmm.example", "must start with http:// or https://"],
    ["https://ann:hunter2@rmm.example", "must not hold a name or password"],
    ["https://rmm.example/?a=1", "must not have a query"],
    ["https://rmm.example/#top", "must not have a query or a fragment"],
  ])("%s", (baseUrl, told) => {
    const make = () => createClient({ baseUrl: baseUrl as string });
    expect(make).toThrow(told);
    expect(make).not.toThrow("hunter2");
  });

  test("a server below a path is reached there", async () => {
    const rmm = await client(() => ({ body: { id } }));
    const below = createClient({ baseUrl: `${stub.url}/tools/`, credentials: { token: "t" } });
    await Promise.all([rmm.users.me(), below.users.me()]);
    expect(stub.seen.map(({ path }) => path).toSorted()).toEqual(["/api/v1/users/me", "/tools/api/v1/users/me"]);
  });
});

test("an id in a path that cannot be one is refused before anything is sent, and is not repeated", async () => {
  const rmm = await client(() => ({}));
  const told = async (given: unknown) => {
    const error = await rmm.sites.get({ params: { id: given as string } }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ValidationError);
    expect(error).toMatchObject({ outcome: "not_sent", operation: "sites.get", code: "VALIDATION_ERROR" });
    return error as ValidationError;
  };
  expect((await told(undefined)).message).toBe("params.id is missing");
  expect((await told("")).message).toBe("params.id is missing");
  for (const wrong of ["headquarters", "..", 7, "svc_sp_secret"]) {
    const error = await told(wrong);
    expect(error.issues).toEqual([{ path: "id", message: "must be a uuid" }]);
    expect(error.message).toBe("params.id must be a uuid");
  }
  expect(stub.seen).toEqual([]);
});

describe("a secret is recognised by its prefix", () => {
  test.each([
    ["svc_0123456789abcdef", "x-api-key"],
    ["svc_sp_0123456789abcdef", "x-api-key"],
    ["agt_0123456789abcdef", "authorization"],
    ["eyJhbGciOi.x.y", "authorization"],
  ])("%s goes into %s", async (token, header) => {
    const rmm = await client(() => ({ body: {} }), { credentials: { token } });
    const later = createClient({ baseUrl: stub.url, credentials: { token: async () => ` ${token}\n` } });
    for (const one of [rmm, later]) {
      await one.request("GET", "/anything");
      const { headers } = stub.seen.at(-1)!;
      expect(headers[header]).toBe(header === "authorization" ? `Bearer ${token}` : token);
      expect(headers).not.toHaveProperty(header === "authorization" ? "x-api-key" : "authorization");
    }
  });

  test("and refused where it opens nothing, before it is sent", async () => {
    for (const token of ["svc_sp_0123456789abcdef", () => "svc_sp_0123456789abcdef"]) {
      const rmm = await client(() => ({}), { credentials: { token } });
      const error = await rmm.sites.list().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(CredentialError);
      expect(String(error)).toContain("the client has a partner key");
      expect(stub.seen).toEqual([]);
      await stub.close();
    }
  });
});

test("a class that a program derives is its own", () => {
  class Gone extends NotFoundError {}
  const facts = { outcome: "rejected" } as const;
  expect(new Gone("x", facts)).toBeInstanceOf(NotFoundError);
  expect(new NotFoundError("x", facts)).not.toBeInstanceOf(Gone);
  expect(new Gone("x", facts)).toBeInstanceOf(Gone);
  for (const other of [null, undefined, "text", 1, new Error("x"), {}]) expect(other instanceof RmmError).toBe(false);
});

test("an aborted call says why: the reason of the signal is the cause", async () => {
  const rmm = await client(() => undefined);
  const controller = new AbortController();
  const reason = new Error("the tab was closed");
  const call = rmm.sites.get({ params: { id } }, { signal: controller.signal });
  setTimeout(() => controller.abort(reason), 50);
  const error = await call.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AbortedError);
  expect((error as AbortedError).cause).toBe(reason);
  const late = rmm.sites.get({ params: { id } }, { signal: AbortSignal.abort() });
  await expect(late).rejects.toMatchObject({ cause: { name: "AbortError" } });
});

describe("withdrawal of an operation", () => {
  const headers = {
    deprecation: "@1767225600",
    sunset: "Wed, 01 Jul 2026 00:00:00 GMT",
    link: '<https://rmm.example/next>; rel="successor-version", <https://rmm.example/why>; rel="deprecation"',
  };

  test("is told once for an operation, with its dates and where it is explained", async () => {
    const told: Deprecation[] = [];
    const hooks = { onDeprecation: (one: Deprecation) => void told.push(one) };
    const rmm = await client(({ path }) => ({ body: { id }, headers: path.endsWith("/me") ? headers : {} }), { hooks });
    await rmm.users.me();
    await rmm.users.me();
    await rmm.sites.get({ params: { id } });
    expect(told).toEqual([
      {
        operation: "users.me",
        deprecatedAt: new Date("2026-01-01T00:00:00Z"),
        sunsetAt: new Date("2026-07-01T00:00:00Z"),
        link: "https://rmm.example/why",
      },
    ]);
  });

  test("is told of a refusal too, without dates where there are none, and a hook that throws changes nothing", async () => {
    const told: Deprecation[] = [];
    const onDeprecation = (one: Deprecation) => {
      told.push(one);
      throw new Error("the hook is broken");
    };
    const rmm = await client(() => refusal(404, "NOT_FOUND", {}, { deprecation: "true" }), {
      hooks: { onDeprecation },
    });
    const error = await rmm.sites.get({ params: { id } }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NotFoundError);
    expect(told).toEqual([{ operation: "sites.get", deprecatedAt: undefined, sunsetAt: undefined, link: undefined }]);
  });
});

describe("a trace", () => {
  const trace = (n: number) => `00-${"a".repeat(32)}-${"b".repeat(15)}${n}-01`;
  const sent = () => stub.seen.map(({ headers }) => headers["traceparent"]);

  test("is given for a call, for a client, or as a header, and repeated attempts carry the same", async () => {
    let span = 1;
    const rmm = await client((_, __, count) => (count === 1 ? refusal(503, "SERVICE_UNAVAILABLE") : { body: { id } }), {
      traceparent: () => trace(span++),
      retryBudget: retryBudget(),
    });
    await rmm.users.me();
    await rmm.users.me({}, { traceparent: trace(8) });
    await rmm.users.me({}, { headers: { Traceparent: trace(9) } });
    expect(sent()).toEqual([trace(1), trace(1), trace(8), trace(9)]);
  });

  test("that cannot be read or had is left out, and the call goes on", async () => {
    const rmm = await client(() => ({ body: { id } }), {
      traceparent: () => {
        throw new Error("no span");
      },
    });
    await rmm.users.me();
    await rmm.users.me({}, { traceparent: "nonsense\r\nx: y" });
    expect(sent()).toEqual([undefined, undefined]);
  });
});

test("an error is narrowed to its operation only by an answer of that operation", async () => {
  const rmm = await client(() => refusal(409, "SLUG_TAKEN"));
  const error = await rmm.organizations
    .create({ body: { name: "Contoso", slug: "contoso" } })
    .catch((thrown: unknown) => thrown);
  expect(isErrorOf("organizations.create", error) && error.code).toBe("SLUG_TAKEN");
  expect(isErrorOf("organizations.update", error)).toBe(false);
  expect(isErrorOf("organizations.create", new Error("x"))).toBe(false);
});
