import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Stub, stubServer } from "#sdk/stub-server";
import type { Transport } from "#sdk/transport";
import { callsServer } from "./taken-flags.ts";
import { commandLine, specs } from "./test-commands.ts";
import { leaves } from "./test-leaves.ts";
import { testCommand } from "./test-shell.ts";
import { writtenLines } from "./test-written-lines.ts";

const command = testCommand();
afterAll(() => command.close());
const signedIn = { RMM_TOKEN: "user-token" };

describe("plain http to another machine", () => {
  const sent: string[] = [];
  const transport: Transport = async ({ url }) => {
    sent.push(url);
    return new Response(JSON.stringify({ id: "1" }), { headers: { "content-type": "application/json" } });
  };
  const me = (env: Record<string, string>, ...flags: string[]) =>
    command.run(["users", "me", ...flags], { env: { ...signedIn, ...env }, transport });

  it.each(["http://10.0.0.5", "http://rmm.example:3000", "http://[fe80::1]:3000", "http://127.0.0.1.rmm.example"])(
    "%s is refused with the reason, and nothing is sent",
    async (server) => {
      const { code, stderr } = await me({ RMM_SERVER: server });
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining("plain http: everyone on the way could read the credential"),
      ]);
      expect(stderr).toContain("--insecure-http");
      expect(sent).toEqual([]);
    },
  );

  it.each([
    "http://127.0.0.1:3000",
    "http://127.8.9.1",
    "http://localhost:3000",
    "http://[::1]:3000",
    "https://rmm.example",
  ])("%s is taken", async (server) => {
    expect((await me({ RMM_SERVER: server })).code).toBe(0);
    expect(sent.pop()).toContain("/api/v1/users/me");
  });

  it("is taken with --insecure-http, which a profile remembers for that server alone", async () => {
    expect((await me({ RMM_SERVER: "http://10.0.0.5" }, "--insecure-http")).code).toBe(0);
    expect((await me({ RMM_SERVER: "http://10.0.0.5" })).code).toBe(2);
    await command.run(["profile", "add", "lab", "--server", "http://10.0.0.5", "--insecure-http"]);
    expect((await me({}, "--profile", "lab")).code).toBe(0);
    expect((await me({ RMM_SERVER: "http://10.0.0.6" }, "--profile", "lab")).code).toBe(2);
    const careful = await command.run(["profile", "add", "careful", "--server", "http://10.0.0.5"]);
    expect(careful.stderr).toContain("`rmm profile add careful --server http://10.0.0.5 --insecure-http`");
    expect((await me({}, "--profile", "careful")).code).toBe(2);
  });
});

describe("every command that calls a server", () => {
  it("refuses plain http before it asks for anything, reads stdin or calls, and says the command that accepts it", async () => {
    const sent: string[] = [];
    const transport: Transport = async ({ url }) => {
      sent.push(url);
      throw new Error("nothing may be sent");
    };
    const lines = writtenLines(command.dir);
    const endpoints = new Map((await specs()).map((spec) => [`${spec.noun} ${spec.name}`, commandLine(spec).argv]));
    let tried = 0;
    for (const { path, command: leaf } of await leaves()) {
      if (!callsServer(leaf)) continue;
      const name = path.join(" ");
      const written = lines[name];
      const argv = written ? [...path, ...written.argv] : (endpoints.get(name) ?? path);
      const asked: string[] = [];
      let reads = 0;
      const stdin = new Readable({
        read() {
          reads += 1;
          this.push(null);
        },
      });
      const ran = await command.run([...argv, "--server", "http://10.0.0.5:3000"], {
        stdin,
        tty: true,
        answers: [],
        asked,
        transport,
      });
      expect({ name, code: ran.code, asked, reads, sent, stdout: ran.stdout }).toEqual({
        ...{ name, code: 2, asked: [], reads: 0, sent: [], stdout: "" },
      });
      expect(ran.stderr, name).toContain("plain http");
      expect(ran.stderr, name).toContain("--insecure-http`");
      tried += 1;
    }
    expect(tried).toBeGreaterThan(150);
  });

  it("is told to go on as it was typed, and how the profile remembers it", async () => {
    const argv = ["auth", "login", "--email", "ana@contoso.example", "--server", "http://10.0.0.7"];
    const { stderr } = await command.run([...argv, "--password-stdin"], { stdin: "Secret-Value-1" });
    expect(stderr).toContain(`\`rmm ${argv.join(" ")} --password-stdin --insecure-http`);
    expect(stderr).toContain("`rmm profile add lab --server http://10.0.0.7 --insecure-http`");
  });
});

describe("an address that is not an rmm server's", () => {
  let stub: Stub;
  let reply: Awaited<ReturnType<Parameters<typeof stubServer>[0]>>;
  beforeAll(async () => {
    stub = await stubServer(async () => reply);
  });
  afterAll(() => stub.close());
  const list = (signal?: AbortSignal) =>
    command.run(["organizations", "list"], {
      env: { ...signedIn, RMM_SERVER: stub.url },
      ...(signal ? { signal } : {}),
    });
  const html = { "content-type": "text/html; charset=utf-8" };

  it.each([
    ["a page", { body: "<html>Welcome</html>", headers: html }, "answered 200 with a web page"],
    [
      "a page that is not found",
      { status: 404, body: "<h1>Not Found</h1>", headers: html },
      "answered 404 with a web page",
    ],
    [
      "a redirect",
      { status: 301, headers: { location: "https://portal.example/login?t=1" } },
      "redirects to https://portal.example",
    ],
    ["another API", { status: 404, body: { message: "Not Found" } }, "answered 404:"],
    [
      "an rmm server below another path",
      { status: 404, body: { error: "Not found", code: "NOT_FOUND", details: { path: "unknown" } } },
      "knows no such path",
    ],
  ])("%s: says so, with an exit code of its own", async (_, given, what) => {
    reply = given;
    const { code, stderr } = await list();
    expect([code, stderr]).toEqual([14, expect.stringContaining(what)]);
    expect(stderr).toContain(`${stub.url} `);
    expect(stderr).toContain("is this the address of an rmm server?");
  });

  it("is not what a mistyped path of rmm api means: near ones are named, or the methods that a path takes", async () => {
    const api = (...argv: string[]) => command.run(["api", ...argv], { env: { ...signedIn, RMM_SERVER: stub.url } });
    reply = { status: 404, body: { error: "Not found", code: "NOT_FOUND", details: { path: "unknown" } } };
    for (const [method, path, near] of [
      ["GET", "/api/v1/orgz", "GET /orgs"],
      ["GET", "/orgs/organization", "GET /orgs/organizations, GET /orgs/organizations/:id"],
      ["PATCH", "/orgs/sitse/11111111-1111-4111-8111-111111111111", "PATCH /orgs/sites/:id"],
      ["GET", "/nothing-like-it", "rmm auth can-i --list"],
    ] as const) {
      const { code, stderr } = await api(method, path);
      expect([code, stderr], path).toEqual([3, expect.stringContaining(`${stub.url} has no such endpoint`)]);
      expect(stderr).toContain(near);
      expect(stderr).not.toContain("is this the address");
    }
    reply = { status: 405, body: { error: "Method not allowed", code: "METHOD_NOT_ALLOWED" } };
    expect((await api("PUT", "/orgs/organizations")).stderr).toContain("It takes GET, POST");
  });

  it("is not what a missing row means", async () => {
    reply = { status: 404, body: { error: "Organization not found", code: "NOT_FOUND" } };
    expect((await list()).code).toBe(3);
  });

  it("is told by rmm help exit-codes", async () => {
    expect((await command.run(["help", "exit-codes"])).stdout).toMatch(/14\b.*not as an rmm server does/);
  });

  it("a connection that fails names the address", async () => {
    const { code, stderr } = await command.run(["users", "me"], {
      env: { ...signedIn, RMM_SERVER: "http://127.0.0.1:1" },
    });
    expect([code, stderr]).toEqual([
      7,
      expect.stringContaining("Could not connect to http://127.0.0.1:1 (ECONNREFUSED)"),
    ]);
  });

  it("a read that is interrupted does not say that it may have been carried out", async () => {
    const interrupt = new AbortController();
    reply = undefined;
    const ran = list(interrupt.signal);
    await expect.poll(() => stub.seen.length).toBeGreaterThan(0);
    setTimeout(() => interrupt.abort(), 300);
    const { code, stderr } = await ran;
    expect([code, stderr]).toEqual([130, expect.stringContaining("Interrupted")]);
    expect(stderr).not.toContain("carried out");
  });
});
