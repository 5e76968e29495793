import { inspect } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { createClient } from "./client.ts";
import type { RmmError } from "./errors.ts";
import { nodeTransport } from "./node.ts";
import { redacted, scrubbed, secretsIn } from "./redact.ts";
import { refusal, type Stub, stubServer } from "./stub-server.ts";
import { fetchTransport } from "./transport.ts";

let stub: Stub;
afterEach(() => stub?.close());

const password = "Hunter2-hunter2";
const token = "eyJhbGciOi.secret-access-token.sig";

describe("redaction", () => {
  test("masks the fields named and those that sound secret, at every depth", () => {
    const value = {
      key: "k-1",
      items: [{ code: "c-1", name: "n" }],
      password: "p",
      user: { accessToken: "t" },
      n: null,
    };
    expect(redacted(value, ["key", "items[].code"])).toEqual({
      key: "********",
      items: [{ code: "********", name: "n" }],
      password: "********",
      user: { accessToken: "********" },
      n: null,
    });
    expect(value.key).toBe("k-1");
  });

  test("finds secret strings to mask wherever else they appear", () => {
    const secrets = secretsIn({ a: { b: "abcd-1" }, list: ["efgh-2"], items: [{ c: "ijkl-3" }] }, [
      "a.b",
      "list",
      "items[].c",
      "missing.x",
    ]);
    expect(secrets).toEqual(["abcd-1", "efgh-2", "ijkl-3"]);
    expect(scrubbed({ text: "x abcd-1 y", deep: [{ m: "ijkl-3" }] }, secrets)).toEqual({
      text: "x ******** y",
      deep: [{ m: "********" }],
    });
  });
});

const everyWayToPrint = (error: unknown): string =>
  [
    inspect(error, { depth: 10, showHidden: true }),
    JSON.stringify(error),
    String(error),
    JSON.stringify(Object.entries(error as object)),
    (error as Error).stack,
  ].join("\n");

describe.each([
  ["node", nodeTransport],
  ["fetch", fetchTransport],
])("no secret is printed (%s transport)", (_, transport) => {
  test("when the server repeats what was sent", async () => {
    stub = await stubServer(({ headers, body }) =>
      refusal(400, "VALIDATION_ERROR", {
        error: `bad: ${(body as { newPassword: string }).newPassword}`,
        details: [{ path: "newPassword", message: `not ${password} with ${headers["authorization"]}` }],
      }),
    );
    const rmm = createClient({ baseUrl: stub.url, transport: transport(), credentials: { token } });
    const error = await rmm.passwords
      .change({ body: { currentPassword: "Old-password1", newPassword: password } })
      .catch((thrown: unknown) => thrown);
    const printed = everyWayToPrint(error);
    expect((error as RmmError).code).toBe("VALIDATION_ERROR");
    expect(printed).toContain("********");
    expect(printed).not.toContain(password);
    expect(printed).not.toContain("secret-access-token");
  });

  test("when the token cannot be put into a header", async () => {
    stub = await stubServer(() => ({}));
    const rmm = createClient({ baseUrl: stub.url, transport: transport(), credentials: { token: `${token}\u0000\n` } });
    const error = await rmm.users.me({}, { retries: 0 }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "CredentialError", outcome: "not_sent" });
    expect(everyWayToPrint(error)).not.toContain("secret-access-token");
    expect(stub.seen).toHaveLength(0);
  });

  test("when the connection fails, or the client itself is printed", async () => {
    stub = await stubServer(() => ({}));
    await stub.close();
    const rmm = createClient({ baseUrl: stub.url, transport: transport(), credentials: { token } });
    const error = await rmm.passwords
      .change({ body: { currentPassword: password, newPassword: password } }, { retries: 0 })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "ConnectionError", outcome: "not_sent" });
    expect(everyWayToPrint(error) + inspect(rmm, { depth: 10, showHidden: true })).not.toMatch(/Hunter2|secret-access/);
  });
});

test("hooks see neither credential nor secret fields", async () => {
  stub = await stubServer(() => ({ body: {} }));
  const events: unknown[] = [];
  const rmm = createClient({
    baseUrl: stub.url,
    transport: nodeTransport(),
    hooks: { onRequest: (event) => events.push(event), onResponse: (event) => events.push(event) },
    credentials: { token },
  });
  await rmm.passwords.change({ body: { currentPassword: password, newPassword: password } });
  await rmm.sessions.login({ body: { email: "ana@harbor.example", password } });
  expect(events).toHaveLength(4);
  const text = JSON.stringify(events);
  expect(text).toContain("ana@harbor.example");
  expect(text).toContain('"authorization":"********"');
  expect(text).not.toMatch(/Hunter2|secret-access/);
});

test("a hook that throws does not fail the call", async () => {
  stub = await stubServer(() => ({ body: { status: "ok" } }));
  const onRequest = () => {
    throw new Error("broken hook");
  };
  const rmm = createClient({ baseUrl: stub.url, transport: nodeTransport(), hooks: { onRequest } });
  expect(await rmm.serviceStatus.health()).toEqual({ status: "ok" });
});
