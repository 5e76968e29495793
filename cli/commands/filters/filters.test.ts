import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { filterFields } from "#contract/core/filters/fields";
import type { Stub } from "#sdk/stub-server";
import { ids, stubApi } from "../../test-api.ts";
import { type RunOptions, testCommand } from "../../test-shell.ts";

const command = testCommand();
let stub: Stub;
const FILTER = "66666666-6666-4666-8666-666666666666";
const filters = [{ id: FILTER, orgId: ids.contoso, orgName: "Contoso Dental", name: "Kiosks" }];
let total: number;
const previewOf = (limit: number) => ({
  body: {
    data: {
      totalCount: total,
      evaluatedAt: "2026-03-02T09:00:00.000Z",
      devices: Array.from({ length: Math.min(limit, total) }, (_, at) => ({
        ...{ id: `id-${at}`, hostname: `pc-${at}`, displayName: null, status: "online", osType: "linux" },
        lastSeenAt: "2026-03-02T08:59:00.000Z",
      })),
    },
  },
});

beforeAll(async () => {
  stub = await stubApi({
    "POST /filters/preview": ({ body }) => previewOf((body as { limit?: number }).limit ?? 10),
    [`POST /filters/${FILTER}/preview`]: (_seen, query) => previewOf(Number(query.get("limit") ?? 10)),
    [`GET /filters/${FILTER}`]: () => ({ body: { ...filters[0], conditions } }),
    "GET /filters": () => ({ body: { data: filters, total: 1 } }),
    "POST /filters": ({ body }) => ({ status: 201, body: { id: ids.twin, ...(body as object) } }),
    [`PATCH /filters/${FILTER}`]: ({ body }) => ({ body: { ...filters[0], ...(body as object) } }),
  });
});
beforeEach(() => {
  stub.seen.length = 0;
  total = 1_312;
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const run = (argv: readonly string[], options: RunOptions = {}) =>
  command.run(["filters", ...argv], { env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" }, ...options });
const where = "osType = windows and (tags any [prod, web] or software.installed contains 'Chrome')";
const conditions = {
  operator: "AND",
  conditions: [
    { field: "osType", operator: "equals", value: "windows" },
    {
      operator: "OR",
      conditions: [
        { field: "tags", operator: "hasAny", value: ["prod", "web"] },
        { field: "software.installed", operator: "contains", value: "Chrome" },
      ],
    },
  ],
};

describe("rmm filters explain", () => {
  const alone = { env: {} };

  it("prints conditions of an expression, and the expression of conditions, without a server", async () => {
    const there = await run(["explain", "--where", where], alone);
    expect([there.code, JSON.parse(there.stdout)]).toEqual([0, conditions]);
    const back = await run(["explain", "--conditions", "-"], { ...alone, stdin: there.stdout });
    expect([back.code, back.stdout]).toEqual([0, `${where.replaceAll("'", "")}\n`]);
  });

  it("reads an expression from a file, and conditions out of a filter or a group", async () => {
    const path = join(command.dir, "where.txt");
    writeFileSync(path, `osType = windows\n  and (tags any [prod, web]\n  or software.installed contains 'Chrome')\n`);
    const { stdout } = await run(["explain", "--where", `@${path}`, "--json"], alone);
    expect(JSON.parse(stdout)).toEqual({ where: where.replaceAll("'", ""), conditions });
    for (const holder of [
      { name: "x", conditions },
      { name: "x", type: "dynamic", filterConditions: conditions },
    ]) {
      const ran = await run(["explain", "--conditions", "-"], { ...alone, stdin: JSON.stringify(holder) });
      expect(ran.stdout).toBe(`${where.replaceAll("'", "")}\n`);
    }
  });

  it("points at what is wrong, in a terminal's width, and for programs with its place", async () => {
    const wrong = `${"hostname contains 漢字 or ".repeat(20)}statsu = online`;
    const shown = await run(["explain", "--where", wrong], { ...alone, tty: true, columns: 80 });
    expect([shown.code, shown.stdout]).toEqual([2, ""]);
    const lines = shown.stderr.split("\n");
    expect(lines[0]).toBe("rmm: --where: There is no field statsu (did you mean status?)");
    expect(lines[1]).toMatch(/^ {2}….*statsu = online$/);
    expect(lines[2]).toMatch(/^ +\^{6}$/);
    const told = await run(["explain", "--where", wrong, "--json"], alone);
    const { error } = JSON.parse(told.stderr) as { error: { code: string; details: object[] } };
    expect(error).toMatchObject({ code: "USAGE", details: [{ start: wrong.indexOf("statsu"), path: "--where" }] });
  });

  it("refuses conditions that are none, and says where", async () => {
    const nested = { operator: "AND", conditions: [{ field: "osType", operator: "equals", value: "beos" }] };
    const ran = await run(["explain", "--conditions", "-"], { ...alone, stdin: JSON.stringify(nested) });
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([2, "", expect.stringContaining("conditions[0]")]);
    const deep = `${'{"operator":"AND","conditions":['.repeat(5_000)}{}${"]}".repeat(5_000)}`;
    expect((await run(["explain", "--conditions", "-"], { ...alone, stdin: deep })).code).toBe(2);
    expect((await run(["explain"], alone)).stderr).toContain("Missing: --where");
  });
});

describe("rmm filters preview and run", () => {
  it("show the first, and tell truthfully how many match", async () => {
    const cut = await run(["preview", "--where", where, "--limit", "3", "--columns", "hostname"]);
    expect([cut.code, cut.stdout]).toEqual([0, "pc-0\npc-1\npc-2\n"]);
    expect(cut.stderr).toContain("1,312 devices match; the first 3 by hostname are shown");
    expect(stub.seen[0]?.body).toEqual({ conditions, limit: 3 });
    total = 2;
    expect((await run(["run", "Kiosks"])).stderr).toContain("2 devices match\n");
    total = 0;
    const none = await run(["run", "kiosks", "--limit", "100"], { tty: true });
    expect([none.code, none.stdout, none.stderr]).toEqual([0, "", "No device matches\n"]);
    expect(stub.seen.at(-1)?.path).toContain("limit=100");
    const piped = await run(["preview", "--where", where]);
    expect([piped.code, piped.stdout, piped.stderr]).toEqual([0, "", "No device matches\n"]);
  });

  it("have no column that a preview leaves empty", async () => {
    const { stdout } = await run(["preview", "--where", where, "--limit", "1"]);
    expect(stdout).toBe("pc-0\t\tonline\tlinux\t2026-03-02T08:59:00.000Z\tid-0\n");
  });

  it("shows at most 100, and calls the flag as it was typed", async () => {
    const ran = await run(["preview", "--where", where, "--limit", "101"]);
    expect([ran.code, stub.seen]).toEqual([2, []]);
    expect(ran.stderr).toMatch(/^rmm: --limit must be at most 100\n.*rmm devices list --all/);
  });

  it("speaks of no change where a jq expression does not fit what was read", async () => {
    const ran = await run(["preview", "--where", where, "--jq", ".data.devices.hostname"]);
    expect([ran.code, ran.stdout, stub.seen.length]).toEqual([1, "", 1]);
    expect(ran.stderr).toContain("Cannot index array");
    expect(ran.stderr).not.toMatch(/change was made|Do not repeat/);
  });

  it("give programs the whole answer", async () => {
    const { stdout } = await run(["preview", "--where", "status = online", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ data: { totalCount: 1_312, evaluatedAt: "2026-03-02T09:00:00.000Z" } });
    const one = await run(["run", "Kiosks", "--jq", ".data.totalCount"]);
    expect(one.stdout).toBe("1312\n");
  });
});

describe("without a condition", () => {
  it.each(["filters", "saved-filters"])("rmm %s preview says how to write one", async (noun) => {
    const ran = await command.run([noun, "preview"], { env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" } });
    expect([ran.code, stub.seen]).toEqual([2, []]);
    expect(ran.stderr).toMatch(/^rmm: Missing: --where \(or --conditions\)\n.*--where 'osType = windows and tags/);
  });

  it("asks for an expression on a terminal, with an example", async () => {
    const asked: string[] = [];
    const ran = await run(["preview"], { tty: true, answers: [where], asked });
    expect([ran.code, asked]).toEqual([0, ["where, such as osType = windows and tags any [web]"]]);
    expect(stub.seen.at(-1)?.body).toMatchObject({ conditions });
  });
});

describe("a filter that is shown", () => {
  it("is an expression on a terminal, within its width", async () => {
    const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana", NO_COLOR: "1" };
    const { stdout } = await run(["get", "Kiosks"], { tty: true, columns: 80, env });
    expect(stdout).not.toMatch(/CONDITIONS|"field"/);
    expect(stdout.split("\n").every((line) => line.length <= 80)).toBe(true);
    const [, shown = ""] = /^WHERE +(.*(?:\n +.*)*)/m.exec(stdout) ?? [];
    expect(shown).toContain("\n");
    expect(shown.replace(/\n +/g, " ")).toBe(where.replaceAll("'", ""));
  });

  it("is conditions for programs and pipes, and where its field is asked for", async () => {
    const { stdout } = await run(["get", "Kiosks", "--json"], { tty: true });
    expect(JSON.parse(stdout)).toMatchObject({ conditions });
    expect((await run(["get", "Kiosks"])).stdout).toContain(`conditions\t${JSON.stringify(conditions)}`);
    expect((await run(["get", "Kiosks", "--columns", "conditions"], { tty: true })).stdout).toContain("AND");
  });
});

describe("rmm filters fields", () => {
  const names = (stdout: string) =>
    stdout
      .trim()
      .split("\n")
      .map((line) => line.split("\t")[0]!);

  it("lists all by name, without a server", async () => {
    const { code, stdout } = await run(["fields"], { env: {} });
    const listed = names(stdout);
    expect([code, listed.length]).toEqual([0, Object.keys(filterFields).length + 1]);
    expect(listed).toEqual([...listed].sort((one, other) => one.localeCompare(other, "en")));
    const json = await run(["fields", "--json"], { env: {} });
    expect(Object.keys(JSON.parse(json.stdout)[0])).toEqual(["name", "type", "operators", "values", "about"]);
  });

  it("narrows them to those with a text in name, type, values or meaning, all on one screen", async () => {
    expect(names((await run(["fields", "--search", "DISK"], { env: {} })).stdout)).toEqual([
      "hardware.diskTotalGb",
      "metrics.diskPercent",
    ]);
    expect(names((await run(["fields", "--search", "offline"], { env: {} })).stdout)).toEqual([
      "status",
      "watchdogStatus",
    ]);
    expect(names((await run(["fields", "--search", "enum processor"], { env: {} })).stdout)).toEqual(["architecture"]);
    const shown = await run(["fields", "--search", "disk"], { tty: true, columns: 80, env: { NO_COLOR: "1" } });
    expect(`${shown.stdout}${shown.stderr}`.split("\n").length).toBeLessThan(24);
    expect(shown.stderr).toMatch(/^number: =/);
    const all = await run(["fields"], { tty: true, columns: 80, env: {} });
    expect(all.stderr).toContain("--search disk");
    const none = await run(["fields", "--search", "xyz"], { env: {} });
    expect([none.code, none.stdout, none.stderr]).toEqual([0, "", expect.stringContaining('No field has "xyz"')]);
  });
});

describe("rmm filters save", () => {
  it("saves an expression under a name that is free", async () => {
    const ran = await run(["save", "Web", "--where", where, "--org", "contoso-dental", "--json"]);
    expect(ran.code, ran.stderr).toBe(0);
    expect(stub.seen.at(-1)).toMatchObject({ method: "POST", body: { name: "Web", orgId: ids.contoso, conditions } });
  });

  it("changes the filter of that name with --replace alone", async () => {
    const refused = await run(["save", "kiosks", "--where", where, "--org", "contoso-dental"]);
    expect([refused.code, refused.stderr]).toEqual([6, expect.stringContaining("--replace")]);
    expect(stub.seen.every(({ method }) => method === "GET")).toBe(true);
    const ran = await run(["save", "kiosks", "--where", where, "--org", "contoso-dental", "--replace"]);
    expect(ran.code, ran.stderr).toBe(0);
    expect(stub.seen.at(-1)).toMatchObject({ method: "PATCH", body: { conditions } });
  });

  it("sends nothing of an expression that is wrong", async () => {
    const ran = await run(["save", "Web", "--where", "statsu = online"]);
    expect([ran.code, stub.seen]).toEqual([2, []]);
  });
});
