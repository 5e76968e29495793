import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import stringWidth from "string-width";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Stub, stubServer } from "#sdk/stub-server";
import { testCommand } from "../../test-shell.ts";
import { bars } from "./bars.ts";

const command = testCommand();
const csv = "id,action\n1,user.login\n";
const facts = { total: 12_345, truncated: true, oldest: "2026-03-01T00:00:00.000Z" };
const capped = { truncated: false, oldest: null };
const entry = {
  ...{ id: "00000000-0000-4000-8000-000000000001", timestamp: "2026-03-02T08:59:00.000Z", result: "success" },
  ...{ action: "configuration_policy.update", user: { email: "ana@contoso.example" } },
  resource: { type: "configuration_policy", name: "Kiosk policy" },
};
let stub: Stub;
let refused: { status: number; body: object } | undefined;

beforeAll(async () => {
  stub = await stubServer(({ path, body }) => {
    if (refused) return refused;
    if (path.includes("/audit-logs/logs"))
      return { body: { data: [entry], pagination: { page: 1, limit: 50, total: 1 } } };
    if (path.includes("/stats"))
      return {
        body: {
          ...{ totalEvents: 4, byUser: [], range: { from: null, to: null }, ...capped },
          byCategory: [
            { category: "device", count: 3 },
            { category: "system", count: 1 },
          ],
        },
      };
    if ((body as { format?: string }).format === "json") return { body: { ...facts, data: [] } };
    const headers = { "x-total-count": "12345", "x-truncated": "true", "x-oldest": facts.oldest };
    return { body: csv, headers: { ...headers, "content-type": "text/csv; charset=utf-8" } };
  });
  await command.run(["profile", "add", "main", "--server", stub.url]);
});
beforeEach(() => {
  stub.seen.length = 0;
  refused = undefined;
});
afterAll(async () => {
  await stub.close();
  command.close();
});
const run = (argv: string[], more: object = {}) => command.run(argv, { env: { RMM_TOKEN: "t" }, ...more });

it("rmm audit list keeps the name of what was acted on at 80 columns, which says more than its type", async () => {
  const { stdout, stderr } = await run(["audit", "list"], {
    tty: true,
    columns: 80,
    env: { RMM_TOKEN: "t", NO_COLOR: "1" },
  });
  expect(stdout).toMatch(/NAME/);
  expect(stdout).toContain("Kiosk policy");
  expect(stderr).not.toContain("resource.name");
});

describe("rmm audit export", () => {
  it("writes the server's CSV as it came, asks for what the flags say, and tells where to go on", async () => {
    const ran = await run(["audit", "export", "--from", "2026-01-01", "--action", "user.login"]);
    expect([ran.code, ran.stdout]).toEqual([0, csv]);
    expect(stub.seen[0]?.body).toEqual({
      ...{ format: "csv", filters: { action: "user.login" }, dateRange: { from: "2026-01-01" } },
    });
    expect(ran.stderr).toContain(`--to ${facts.oldest}`);
  });

  it.each([
    ["export", "--from", "2026-11-31"],
    ["export", "--to", "yesterday"],
    ["stats", "--from", "2026-02-30T09:00:00Z"],
    ["list", "--from", "2026-11-31"],
  ])("audit %s refuses %s %s, which is no day, by the name of the flag", async (name, flag, value) => {
    const ran = await run(["audit", name, flag, value]);
    expect([ran.code, stub.seen]).toEqual([2, []]);
    expect(ran.stderr).toMatch(new RegExp(`^rmm: ${flag} must be a time such as`));
  });

  it("calls what the server refuses as it was typed; programs get the fields", async () => {
    const details = [{ path: "dateRange.from", message: "dateRange.from: is before all" }];
    refused = { status: 400, body: { error: details[0]!.message, code: "VALIDATION_ERROR", details } };
    // The token is masked wherever an answer has it.
    const env = { RMM_TOKEN: "token-of-ana" };
    const ran = await run(["audit", "export", "--from", "1026-01-01"], { env });
    expect(ran.stderr).toMatch(/^rmm: --from: is before all/);
    expect(ran.stderr).toContain("`rmm audit export --help`");
    expect(ran.stderr).not.toMatch(/dateRange|audit-logs/);
    const told = await run(["audit", "export", "--from", "1026-01-01", "--json"], { env });
    expect(JSON.parse(told.stderr).error).toMatchObject({ details });
  });

  it("writes a file once, with its checksum; its ending chooses the format", async () => {
    const path = join(command.dir, "audit.json");
    const ran = await run(["audit", "export", "-o", path, "--json"]);
    const text = readFileSync(path, "utf8");
    expect(JSON.parse(text)).toEqual({ ...facts, data: [] });
    const sha256 = createHash("sha256").update(text).digest("hex");
    expect(JSON.parse(ran.stdout)).toEqual({ path, ...facts, sha256 });
    stub.seen.length = 0;
    expect((await run(["audit", "export", "-o", path])).code).toBe(2);
    expect(stub.seen).toEqual([]);
    expect(readFileSync(path, "utf8")).toBe(text);
    expect((await run(["audit", "export", "--format", "xml"])).code).toBe(2);
  });
});

describe("rmm audit report", () => {
  it("draws bars on a terminal, and gives a program the report as it is", async () => {
    const ran = await run(["audit", "report", "stats"], { tty: true, columns: 80 });
    expect(ran.stdout).toContain("Entries: 4");
    const [device, system] = ran.stdout.split("\n").filter((line) => line.includes("█"));
    expect(device?.length).toBe(80);
    expect(system).toMatch(/^system {2}1 {2}█{23}$/);
    const json = await run(["audit", "report", "stats", "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ totalEvents: 4, truncated: false });
    expect((await run(["audit", "report", "stat"])).stderr).toContain("stats");
  });
});

it.each([20, 40, 80, 200])("bars fit %s columns, whatever the labels are", (width) => {
  const counts = [
    ["a".repeat(60), 1_000],
    ["日本".repeat(30), 1],
    ["\u001b[31mred", 0],
  ] as const;
  const lines = bars(counts, width);
  for (const line of lines) {
    expect(stringWidth(line)).toBeLessThanOrEqual(width);
    expect(line).not.toContain("\u001b");
  }
  expect(lines.map((line) => line.includes("█"))).toEqual([true, true, false]);
});
