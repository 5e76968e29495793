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
let stub: Stub;

beforeAll(async () => {
  stub = await stubServer(({ path, body }) => {
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
});
afterAll(async () => {
  await stub.close();
  command.close();
});
const run = (argv: string[], more: object = {}) => command.run(argv, { env: { RMM_TOKEN: "t" }, ...more });

describe("rmm audit export", () => {
  it("writes the server's CSV as it came, asks for what the flags say, and tells where to go on", async () => {
    const ran = await run(["audit", "export", "--from", "2026-01-01", "--action", "user.login"]);
    expect([ran.code, ran.stdout]).toEqual([0, csv]);
    expect(stub.seen[0]?.body).toEqual({
      ...{ format: "csv", filters: { action: "user.login" }, dateRange: { from: "2026-01-01" } },
    });
    expect(ran.stderr).toContain(`--to ${facts.oldest}`);
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
