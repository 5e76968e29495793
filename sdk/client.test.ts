import { afterEach, describe, expect, expectTypeOf, test } from "vitest";
import { allEndpoints, contract } from "#contract/index";
import { createClient } from "./client.ts";
import {
  ConflictError,
  ForbiddenError,
  MfaRequiredError,
  NotFoundError,
  NotRmmServerError,
  ResponseInvalidError,
  type RmmError,
  ServerError,
  UnavailableError,
  ValidationError,
} from "./errors.ts";
import { endpoints } from "./generated/endpoints.ts";
import { nodeTransport } from "./node.ts";
import type { ClientOptions } from "./options.ts";
import { type Handler, refusal, type Stub, stubServer } from "./stub-server.ts";

const id = "018f0000-0000-7000-8000-000000000001";
let stub: Stub;
afterEach(() => stub?.close());

async function client(handler: Handler, options: Partial<ClientOptions> = {}) {
  stub = await stubServer(handler);
  return createClient({ baseUrl: stub.url, transport: nodeTransport(), credentials: { token: "t" }, ...options });
}

test("a client without an address is refused with a sentence", () => {
  expect(() => createClient({} as { baseUrl: string })).toThrow("baseUrl is missing");
});

test("there is one method per endpoint, and nothing else under the nouns", async () => {
  const rmm = createClient({ baseUrl: "http://x" }) as unknown as Record<string, Record<string, unknown>>;
  const methods = Object.keys(endpoints).flatMap((noun) =>
    Object.keys(rmm[noun] ?? {}).map((verb) => `${noun}.${verb}`),
  );
  const expected = Object.entries(contract).flatMap(([noun, verbs]) =>
    Object.keys(verbs).map((verb) => `${noun}.${verb}`),
  );
  expect(methods).toEqual(expected);
  expect(methods).toHaveLength(allEndpoints().length);
});

describe("a call", () => {
  test("puts parameters, query and body where they belong", async () => {
    const rmm = await client(() => ({ status: 201, body: { id } }));
    await rmm.contacts.create({ params: { id }, body: { name: "Zoë", roles: ["billing"] } });
    await rmm.agents.rotateToken({ params: { id: "a/b c" } }).catch(() => undefined);
    expect(stub.seen[0]).toMatchObject({
      method: "POST",
      path: `/api/v1/orgs/organizations/${id}/contacts`,
      body: { name: "Zoë", roles: ["billing"] },
      headers: { authorization: "Bearer t", "content-type": "application/json", accept: "application/json" },
    });
  });

  test("refuses a missing path parameter instead of reaching another endpoint", async () => {
    const rmm = await client(() => ({}));
    await expect(rmm.sites.remove({ params: { id: "" } })).rejects.toThrow("params.id is missing");
    await expect(rmm.sites.remove({ params: { id: ".." } })).rejects.toThrow("params.id must be a uuid");
    expect(stub.seen).toHaveLength(0);
  });

  test("takes the address of the server with or without the path of the API", async () => {
    const rmm = await client(() => ({ body: { id } }));
    await rmm.users.me();
    const other = createClient({
      baseUrl: `${stub.url}/api/v1/`,
      transport: nodeTransport(),
      credentials: { token: "t" },
    });
    await other.users.me();
    expect(stub.seen.map(({ path }) => path)).toEqual(["/api/v1/users/me", "/api/v1/users/me"]);
  });

  test("sends an API key in its own header, and no credential to a public endpoint", async () => {
    const rmm = await client(() => ({ body: {} }), { credentials: { apiKey: "svc_0123456789" } });
    await rmm.request("GET", "/devices/1/custom-fields", { query: { a: [1, 2], b: true } });
    await rmm.serviceStatus.health();
    expect(stub.seen[0]?.path).toBe("/api/v1/devices/1/custom-fields?a=1%2C2&b=true");
    expect(stub.seen[0]?.headers["x-api-key"]).toBe("svc_0123456789");
    expect(stub.seen[1]?.headers).not.toHaveProperty("x-api-key");
  });

  test("gives text where the endpoint speaks text", async () => {
    const rmm = await client(() => ({ body: "up 1\n", headers: { "content-type": "text/plain" } }));
    expect(await rmm.serviceStatus.metrics()).toBe("up 1\n");
  });

  test("asResponse leaves the body to the caller, withResponse adds status and headers", async () => {
    const rmm = await client(() => ({ body: { id } }));
    const raw = await rmm.users.me().asResponse();
    const chunks: string[] = [];
    for await (const chunk of raw.body as unknown as AsyncIterable<Uint8Array>)
      chunks.push(new TextDecoder().decode(chunk));
    expect(JSON.parse(chunks.join(""))).toEqual({ id });
    const { data, response } = await rmm.users.me().withResponse();
    expect(data).toEqual({ id });
    expect(response.status).toBe(200);
    expect(response.headers.get("X-Request-Id")).toBe("req-2");
  });
});

describe("errors", () => {
  test.each([
    [400, "VALIDATION_ERROR", ValidationError],
    [403, "PERMISSION_DENIED", ForbiddenError],
    [403, "MFA_REQUIRED", MfaRequiredError],
    [428, "MFA_ENROLLMENT_REQUIRED", MfaRequiredError],
    [404, "NOT_FOUND", NotFoundError],
    [409, "INVALID_STATE", ConflictError],
    [500, "INTERNAL_ERROR", ServerError],
  ])("%i %s has its class", async (status, code, kind) => {
    const rmm = await client(() => refusal(status, code, { details: [{ path: "a", message: "b" }], reason: "r" }));
    const error = await rmm.sites.get({ params: { id } }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({
      status,
      code,
      requestId: "req-1",
      operation: "sites.get",
      name: kind.name,
      extra: { reason: "r" },
      outcome: status === 500 ? "unknown" : "rejected",
    });
  });

  test("an answer that is not the API's still has status and outcome", async () => {
    const rmm = await client(() => ({ status: 502, body: "<h1>Bad gateway</h1>" }), { retries: 0 });
    await expect(rmm.sites.get({ params: { id } })).rejects.toMatchObject({
      message: `${stub.url} answered 502`,
      code: "HTTP_502",
      outcome: "unknown",
      retryable: true,
    });
  });

  test("a web page says so whatever its status: no rmm server answers with one", async () => {
    let status = 0;
    const headers = { "content-type": "text/html; charset=utf-8" };
    const rmm = await client(() => ({ status, body: "<h1>Oops</h1>", headers }), { retries: 0 });
    const failed = async (answered: number) => {
      status = answered;
      return rmm.sites.get({ params: { id } }).catch((thrown: unknown) => thrown);
    };
    for (const status of [404, 500, 501]) expect(await failed(status)).toBeInstanceOf(NotRmmServerError);
    for (const away of [502, 503, 504]) {
      const error = (await failed(away)) as RmmError;
      expect(error).toBeInstanceOf(UnavailableError);
      expect([error.retryable, error.outcome]).toEqual([true, "unknown"]);
      expect(error.message).toContain(`answered ${away} with a web page, which no rmm server does`);
    }
  });

  test("a redirect is not followed: the credential stays here", async () => {
    const rmm = await client(({ path }) => ({ status: 302, headers: { location: `http://127.0.0.1:1${path}` } }));
    await expect(rmm.users.me()).rejects.toMatchObject({ status: 302 });
  });

  test("a success that is not JSON says so", async () => {
    const rmm = await client(() => ({ body: "<html>" }));
    await expect(rmm.users.me()).rejects.toBeInstanceOf(ResponseInvalidError);
  });
});

describe("validation of answers", () => {
  const session = {
    id,
    createdAt: "2026-01-01T00:00:00.000Z",
    lastUsedAt: "2026-01-01T00:00:00.000Z",
    ipAddress: null,
    userAgent: null,
    mfaVerified: true,
    current: true,
  };
  const key = { id, name: "n", keyPrefix: "svc_12345678", status: "active", updatedAt: "2026-01-01T00:00:00.000Z" };

  test("strict throws on a missing field, and names it", async () => {
    const { mfaVerified: _, ...broken } = session;
    const rmm = await client(() => ({ body: { data: [broken] } }), { validate: "strict" });
    const error = await rmm.sessions.list().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ResponseInvalidError);
    expect((error as ResponseInvalidError).issues[0]?.path).toBe("data[0].mfaVerified");
  });

  test("unknown fields are kept and unknown enum values pass", async () => {
    const answer = { success: true, apiKey: { ...key, status: "dormant", news: 1 } };
    const rmm = await client(() => ({ body: answer }), { validate: "strict" });
    expect(await rmm.apiKeys.revoke({ params: { id } })).toEqual(answer);
  });

  test("warn reports and goes on, off looks at nothing", async () => {
    const reported: string[] = [];
    const hooks = { onInvalidResponse: ({ operation }: { operation: string }) => void reported.push(operation) };
    const rmm = await client(() => ({ body: { data: [{}] } }), { validate: "warn", hooks });
    expect((await rmm.sessions.list()).items).toEqual([{}]);
    expect((await rmm.sessions.list({}, { validate: "off" })).items).toEqual([{}]);
    expect(reported).toEqual(["sessions.list"]);
  });
});

describe("validation of requests", () => {
  const sent: unknown[] = [];
  const strict = () =>
    client(
      (request) => {
        sent.push(request);
        return { body: { success: true } };
      },
      { validate: "strict" },
    );

  test("strict refuses what breaks the contract before it is sent, in the server's words", async () => {
    const rmm = await strict();
    const wrong = [
      rmm.enrollmentKeys.create({ body: { name: " ", maxUsage: 0, extra: 1 } as never }),
      rmm.sites.get({ params: { id: "none" } }),
      rmm.devices.list({ query: { status: "asleep" as never } }),
      rmm.contacts.create({ params: { id }, body: { roles: ["\u0000" as never] } }),
    ];
    const errors = await Promise.all(wrong.map((call) => Promise.resolve(call).catch((thrown: unknown) => thrown)));
    for (const error of errors) expect(error).toBeInstanceOf(ValidationError);
    const told = errors as ValidationError[];
    expect(told.map(({ outcome, code }) => [outcome, code])).toEqual(wrong.map(() => ["not_sent", "VALIDATION_ERROR"]));
    expect(told.map(({ issues }) => issues.map(({ path }) => path).toSorted())).toEqual([
      ["", "maxUsage", "name"],
      ["id"],
      ["status"],
      ["roles[0]"],
    ]);
    expect(told[0]?.issues).toContainEqual({ path: "name", message: "name: must not be blank" });
    expect(sent).toEqual([]);
  });

  test("what it may not know is sent: defaults left out, values of other spellings", async () => {
    const rmm = await strict();
    await rmm.sessions.logout();
    await rmm.sites.remove({ params: { id: id.toUpperCase() } });
    expect(sent).toHaveLength(2);
  });
});

test("types follow the contract", () => {
  const rmm = createClient({ baseUrl: "http://x" });
  expectTypeOf(rmm.apiKeys.rotate).parameter(0).toEqualTypeOf<{ params: { id: string } }>();
  expectTypeOf(rmm.sites.list).toBeCallableWith();
  expectTypeOf(rmm.sites.list).toBeCallableWith({ query: { page: 2, orgId: id } });
  expectTypeOf(rmm.auditLogs.verify).toBeCallableWith();
  type Key = Awaited<ReturnType<typeof rmm.enrollmentKeys.create>>;
  expectTypeOf<Key["key"]>().toBeString();
  type Device = Awaited<ReturnType<typeof rmm.devices.list>>["items"][number];
  expectTypeOf<Device["hostname"]>().toBeString();
  // @ts-expect-error the path parameter is required
  expect(() => rmm.sites.get()).toBeTypeOf("function");
});
