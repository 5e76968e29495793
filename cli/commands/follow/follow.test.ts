import { Writable } from "node:stream";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { Stub } from "#sdk/stub-server";
import { paged, stubApi } from "../../test-api.ts";
import { ANY_ID } from "../../test-commands.ts";
import { testCommand } from "../../test-shell.ts";

const command = testCommand();
let stub: Stub;
afterAll(() => command.close());
afterEach(() => stub.close());

/** Of each look the rows, the newest first; the last goes on. */
const looks = [
  ["b", "a"],
  ["d", "c", "b", "a"],
  ["d", "c", "b", "a"],
];
const row = (id: string) => ({ id, timestamp: "2026-01-01T00:00:00.000Z", action: id, message: id });

/** Runs until so many lines were told. */
async function told(argv: readonly string[], count: number): Promise<{ lines: string[]; code: number | null }> {
  const stop = new AbortController();
  const lines: string[] = [];
  const stdout = new Writable({
    write(chunk: Buffer, _, done) {
      if (lines.push(JSON.parse(chunk.toString()).id) === count) stop.abort();
      done();
    },
  });
  const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token" };
  const { code } = await command.run(argv, { env, signal: stop.signal, stdout });
  return { lines, code };
}

const seen = (): { path: string }[] => stub.seen as never;

describe.each([
  ["logs diagnostic", `/devices/${ANY_ID}/diagnostic-logs`, ["logs", "diagnostic", ANY_ID, "--follow"], "limit=100"],
  [
    "logs events",
    `/devices/${ANY_ID}/eventlogs`,
    ["logs", "events", ANY_ID, "--follow", "--level", "error"],
    "level=error",
  ],
  ["audit tail", "/audit-logs/logs", ["audit", "tail", "-f", "--action", "device."], "action=device."],
] as const)("rmm %s --follow", (_, path, argv, query) => {
  it("prints a line for each that is there and each that comes, once, the oldest first", async () => {
    let asked = 0;
    stub = await stubApi({
      [`GET ${path}`]: (_seen, query) => {
        const rows = (looks[Math.min(asked++, looks.length - 1)] as string[]).map(row);
        return path.endsWith("diagnostic-logs")
          ? { body: { logs: rows, total: rows.length, limit: 100, offset: 0 } }
          : paged(rows, query);
      },
    });
    expect(await told([...argv, "--ndjson"], 4)).toEqual({ lines: ["a", "b", "c", "d"], code: 130 });
    expect(seen()[0]?.path).toContain(query);
  });
});

it("rmm audit tail without -f ends, with as many as are asked for", async () => {
  stub = await stubApi({ "GET /audit-logs/logs": (_seen, query) => paged(["c", "b", "a"].map(row), query) });
  const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token" };
  const ran = await command.run(["audit", "tail", "-n", "2", "--json"], { env });
  expect([
    ran.code,
    ran.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).id),
  ]).toEqual([0, ["b", "c"]]);
});

it("rmm logs diagnostic sends the levels that there are, however they are called, and no others", async () => {
  stub = await stubApi({
    [`GET /devices/${ANY_ID}/diagnostic-logs`]: () => ({ body: { logs: [], total: 0, limit: 50, offset: 0 } }),
  });
  const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token" };
  const run = (level: string) => command.run(["logs", "diagnostic", ANY_ID, "--level", level], { env });
  expect((await run("Warning, error")).code).toBe(0);
  expect(seen().map(({ path }) => new URL(path, stub.url).searchParams.get("level"))).toEqual(["warn,error"]);
  const wrong = await run("warn,critical");
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("must be some of debug, info, warn, error")]);
  expect((await run("wran")).stderr).toContain("did you mean warn?");
  expect(seen()).toHaveLength(1);
});

it("rmm logs --help shows what people call, not agents", async () => {
  const { stdout } = await command.run(["logs", "--help"]);
  const [before = ""] = stdout.split("Usage:");
  expect(before).toContain("rmm device-logs diagnostic reception-pc --follow\n");
  expect(before).not.toContain("submit");
});
