import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import { RateLimitError } from "#sdk/errors";
import { refusal, type Stub } from "#sdk/stub-server";
import { ids, stubApi } from "../test-api.ts";
import { testCommand } from "../test-shell.ts";
import { completed } from "./commands-to-type.ts";
import { describeError } from "./describe-error.ts";

const command = testCommand();
let stub: Stub;
let answer: ReturnType<typeof refusal>;
beforeEach(async () => {
  stub = await stubApi({
    "GET /users/me": () => ({ body: { scope: "system" } }),
    "GET /orgs/partners": () => ({ body: { data: [{ id: ids.twin, slug: "summit", name: "Summit MSP" }] } }),
    "GET /orgs/partners/*": () => answer,
  });
});
afterEach(() => stub.close());
afterAll(() => command.close());

const get = (partner: string, env: Record<string, string> = { RMM_TOKEN: "user-token" }) =>
  command.run(["partners", "get", partner], { env: { RMM_SERVER: stub.url, ...env } });

it("says the facts that the server gave, one a line, and what helps", async () => {
  answer = refusal(403, "PERMISSION_DENIED", {
    error: "Permission denied",
    details: { required: "partners:read", missing: ["a", "b"], nested: { not: "said" }, none: [] },
  });
  const { code, stderr } = await get(ids.twin);
  expect(code).toBe(5);
  expect(stderr.split("\n").slice(1)).toEqual([
    "  required: partners:read",
    "  missing: a, b",
    "  `rmm auth can-i --list` says what you may do. The credential is that of RMM_TOKEN",
    "",
  ]);
});

it("does not tell a user with a token only to sign in: it may have expired", async () => {
  answer = refusal(401, "UNAUTHENTICATED");
  const { code, stderr } = await get(ids.twin);
  expect(code).toBe(4);
  expect(stderr).toMatch(/expired, or is not of this server.*another RMM_TOKEN/);
});

it("names a partner in the path by slug or name, and says which there are when it is wrong", async () => {
  answer = { body: { id: ids.twin, slug: "summit" } };
  expect(await get("Summit")).toMatchObject({ code: 0, stdout: expect.stringContaining(ids.twin) });
  expect(stub.seen.at(-1)?.path).toBe(`/api/v1/orgs/partners/${ids.twin}`);
  expect(await get("summit msp")).toMatchObject({ code: 0 });
  expect(stub.seen.at(-1)?.path).toBe(`/api/v1/orgs/partners/${ids.twin}`);
  expect(await get("sumit")).toMatchObject({ code: 3, stderr: expect.stringMatching(/Did you mean summit/) });
});

it("breaks no word on a terminal, and no command to type; a pipe has a line for each message", async () => {
  answer = refusal(403, "PERMISSION_DENIED", { error: `You may not do this ${"at this partner of yours ".repeat(6)}` });
  const argv = ["partners", "get", ids.twin, "--profile", "default"];
  const env = { RMM_SERVER: stub.url, RMM_TOKEN: "user-token" };
  const told = (text: string) => text.replaceAll(/\s+/g, " ").replace(/req-\d+/, "");
  const piped = (await command.run(argv, { env })).stderr;
  for (const columns of [40, 60, 80]) {
    const { stderr } = await command.run(argv, { env, tty: true, columns });
    expect(told(stderr)).toBe(told(piped));
    expect(stderr).toContain("`rmm auth can-i --list --profile default`");
    for (const line of stderr.split("\n")) expect(line.length, line).toBeLessThanOrEqual(Math.max(columns, 60));
  }
});

it("says how long a limit lasts, and when that is on this machine's clock", () => {
  const now = new Date(2026, 2, 2, 14, 2, 18).getTime();
  const facts = { status: 429, code: "RATE_LIMITED", outcome: "rejected", retryable: true } as const;
  const error = new RateLimitError("Too many requests", { ...facts, retryAt: new Date(now + 42_000) });
  expect(describeError(error, now).error.hint).toBe("Try again in 42 s (at 14:03)");
});

it("puts the address that was typed into the sign-in to type", () => {
  const text = "`rmm auth login --sso --email <address>`";
  expect(completed(text, { email: "ana@a.example" })).toBe("`rmm auth login --sso --email ana@a.example`");
  expect(completed(text, {})).toBe(text);
});

it("says that http was meant where nothing speaks TLS", async () => {
  const { code, stderr } = await get(ids.twin, { RMM_TOKEN: "t", RMM_SERVER: stub.url.replace("http:", "https:") });
  expect(code).toBe(7);
  expect(stderr).toContain("an address with http://");
});

it("knows what people call removing", async () => {
  const { code, stderr } = await command.run(["partners", "delete", "summit"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("There is `rmm partners remove`")]);
});

it("knows what people call getting, and speaks of --json only where it was given", async () => {
  expect((await command.run(["partners", "show", "summit"])).stderr).toContain("There is `rmm partners get`");
  expect((await command.run(["partners", "list", "a", "b"])).stderr).not.toContain("--json");
  expect((await command.run(["partners", "list", "--json", "id,name"])).stderr).toContain("with an equals sign");
});

it.each([
  ["notifications read", "front-desk"],
  ["audit show", "nope"],
])("rmm %s names the argument that is no id, once, and says where ids are found", async (line, name) => {
  const { code, stderr } = await command.run([...line.split(" "), name], {
    env: { RMM_TOKEN: "t", RMM_SERVER: stub.url },
  });
  expect([code, stderr.replace(/^→.*\n/, "")]).toEqual([
    2,
    "rmm: <id> must be an id, not a name\n  A list shows ids with --wide\n",
  ]);
  expect(stub.seen).toEqual([]);
});
