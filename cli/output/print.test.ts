import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Stub } from "#sdk/stub-server";
import { paged, stubApi } from "../test-api.ts";
import { ANY_ID } from "../test-commands.ts";
import { NOW, testCommand } from "../test-shell.ts";
import { isColoured } from "./colour.ts";
import { relativeTime } from "./relative-time.ts";

const command = testCommand();
const nasty = {
  id: "id-1",
  hostname: "pc\u001b[31m\u0007\u009b2J",
  status: "offline",
  osType: "windows",
  orgName: "a\tb\nc\\d",
  siteName: null,
  lastSeenAt: "2026-03-02T06:00:00.000Z",
};
let stub: Stub;
beforeAll(async () => {
  stub = await stubApi({
    "GET /devices/*": () => ({
      body: {
        ...{ lastSeenAt: nasty.lastSeenAt, network: { ip: "10.0.0.5", dns: { a: 1 }, mask: null }, tags: {} },
        ...{ displayName: null, notes: "", ports: [], quarantinedAt: null, quarantinedBy: null },
      },
    }),
    "GET /devices": (_seen, query) => paged(query.get("search") === "none" ? [] : [nasty], query),
  });
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const devices = (more: readonly string[], options: Parameters<typeof command.run>[1] = {}) =>
  command.run(["devices", "list", ...more], {
    ...options,
    env: { RMM_SERVER: stub.url, RMM_TOKEN: "token", ...options.env },
  });

describe("a pipe", () => {
  it("gets tabs without header, whole values and RFC 3339 times, one line an entry", async () => {
    const { stdout } = await devices([]);
    expect(stdout).toBe(
      "pc\\u001b[31m\\u0007\\u009b2J\toffline\twindows\ta\\tb\\nc\\\\d\t\t2026-03-02T06:00:00.000Z\tid-1\n",
    );
    expect((await devices(["--columns", "id,siteName"])).stdout).toBe("id-1\t\n");
  });

  it("gets nothing for an empty list, and [] with --json", async () => {
    expect(await devices(["--search", "none"])).toMatchObject({ code: 0, stdout: "" });
    expect((await devices(["--search", "none", "--json"])).stdout).toBe("[]\n");
  });
});

describe("a terminal", () => {
  it("gets a table with relative times, and no character that moves its cursor", async () => {
    const { stdout } = await devices([], { tty: true, env: { NO_COLOR: "1" } });
    expect(stdout).toMatch(/^HOSTNAME +STATUS .* ID\n/);
    expect(stdout).toContain("3 hours ago");
    expect(stdout).toContain("pc\\u001b[31m\\u0007\\u009b2J");
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect((await devices(["--no-header"], { tty: true })).stdout).not.toContain("HOSTNAME");
    expect((await devices(["--json"], { tty: true })).stdout).not.toMatch(/[\u007f-\u009f\u001b]/);
  });

  it("gets one object field by field, with times as they are and as distances", async () => {
    const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token" };
    const { stdout } = await command.run(["devices", "get", ANY_ID], { tty: true, env: { ...env, NO_COLOR: "1" } });
    expect(stdout).toMatch(/^LAST SEEN AT +2026-03-02T06:00:00\.000Z \(3 hours ago\)$/m);
    expect(stdout).toMatch(/^NETWORK IP +10\.0\.0\.5\nNETWORK DNS A +1\nTAGS +\{\}$/m);
    const lines = stdout.trimEnd().split("\n");
    for (const line of lines) expect(line, stdout).toMatch(/^[A-Z ]+ {2}\S/);
    expect(lines.at(-1)).toMatch(/^NOT SET +network\.mask, displayName, notes, ports, quarantinedAt, quarantinedBy$/);
    const narrow = await command.run(["devices", "get", ANY_ID], {
      tty: true,
      columns: 50,
      env: { ...env, NO_COLOR: "1" },
    });
    expect(narrow.stdout).toMatch(/^NOT SET +6 fields: --json shows them\n$/m);
    const named = await command.run(["devices", "get", ANY_ID, "--columns", "displayName,lastSeenAt"], {
      tty: true,
      env,
    });
    expect(named.stdout).toMatch(/^.*DISPLAY NAME.*\n.*LAST SEEN AT.*\n$/);
    expect((await command.run(["devices", "get", ANY_ID], { env })).stdout).toContain("\t2026-03-02T06:00:00.000Z\n");
  });

  it("gets colours unless they are turned off", async () => {
    expect((await devices([], { tty: true })).stdout).toContain("\u001b[31moffline\u001b[39m ");
    expect((await devices([], { tty: true, env: { TERM: "dumb" } })).stdout).not.toContain("\u001b[");
  });
});

it("decides on colour per stream, in the usual order", () => {
  const tty = { stdin: true, stdout: true, stderr: false };
  const of = (env: Record<string, string>) => [
    isColoured({ env, isTty: tty }, "stdout"),
    isColoured({ env, isTty: tty }, "stderr"),
  ];
  expect(of({})).toEqual([true, false]);
  expect(of({ NO_COLOR: "1" })).toEqual([false, false]);
  expect(of({ NO_COLOR: "" })).toEqual([true, false]);
  expect(of({ CLICOLOR: "0" })).toEqual([false, false]);
  expect(of({ TERM: "dumb" })).toEqual([false, false]);
  expect(of({ CLICOLOR_FORCE: "1", NO_COLOR: "1" })).toEqual([true, true]);
  expect(of({ FORCE_COLOR: "1", TERM: "dumb" })).toEqual([true, true]);
  expect(of({ FORCE_COLOR: "0" })).toEqual([false, false]);
});

describe("chosen output", () => {
  it("selects fields, prints one object a line, and filters with jq", async () => {
    expect(JSON.parse((await devices(["--json=id,status"])).stdout)).toEqual([{ id: "id-1", status: "offline" }]);
    expect(
      (await devices(["--ndjson"])).stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).id),
    ).toEqual(["id-1"]);
    expect(await devices(["--jq", ".[] | .status"])).toMatchObject({ stdout: "offline\n", stderr: "" });
    expect((await devices(["--jq", "length"])).stdout).toBe("1\n");
    const before = stub.seen.length;
    for (const wrong of [".[", "nonsense(1)", "."])
      expect(await devices(["--jq", wrong])).toMatchObject(wrong === "." ? { code: 0 } : { code: 2, stdout: "" });
    expect(stub.seen.length - before, "only the one that compiles was asked for").toBe(1);
  });
});

it("tells times from now", () => {
  const at = (ms: number) => relativeTime(new Date(NOW + ms).toISOString(), NOW);
  expect([at(-20_000), at(-60_000), at(-7_200_000), at(3 * 86_400_000)]).toEqual([
    "just now",
    "1 minute ago",
    "2 hours ago",
    "in 3 days",
  ]);
  expect(relativeTime("2026", NOW)).toBeUndefined();
});
