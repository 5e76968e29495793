import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { refusal, type Stub } from "#sdk/stub-server";
import { ids, stubApi, writesOf } from "../../../test-api.ts";
import { type RunOptions, testCommand } from "../../../test-shell.ts";

const command = testCommand();
let stub: Stub;
let refused: string | undefined;
let comparison: unknown;
let found: object = {};

const idOf = (at: number) => `aaaaaaaa-000${at}-4000-8000-000000000000`;
const rule = (at: number, name: string, priority: number, more: object = {}) => ({
  ...{ id: idOf(at), orgId: ids.contoso, siteId: null, siteName: null, name, priority, verdict: "require_approval" },
  ...{ enabled: true, createdAt: `2026-01-0${at}T00:00:00.000Z`, suspendedVerdict: null, timeWindow: null },
  ...{ matchSigner: null, matchPathGlob: null, matchUser: null, matchRiskTier: null, matchNegate: null },
  ...{ matchSignerGroupId: null, matchSignerGroupName: null },
  ...more,
});
const plain = [
  rule(1, "Known installers", 10, {
    matchPathGlob: "C:\\Program Files\\Vendor\\**",
    matchUser: "pat",
    matchNegate: ["user"],
  }),
  rule(2, "Ask for games", 20),
  rule(3, "Deny games", 30),
];
let rules = plain;
const request = { id: idOf(9), orgId: ids.contoso, flowType: "uac_intercept", subjectUsername: "jo\u202e", events: [] };

beforeAll(async () => {
  stub = await stubApi({
    "GET /pam/rules": () => ({ body: { success: true, rules } }),
    "PATCH /pam/rules/*": ({ path, body }) =>
      refused !== undefined && path.endsWith(refused)
        ? refusal(403, "SITE_ACCESS_DENIED")
        : { body: { success: true, rule: { id: path.split("/").at(-1), ...(body as object) } } },
    [`GET /pam/elevation-requests/${idOf(9)}`]: () => ({ body: request }),
    "POST /pam/rules/preview": () => ({ body: { success: true, comparison, ...found } }),
  });
});
beforeEach(() => {
  stub.seen.length = 0;
  refused = undefined;
  rules = plain;
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const run = (argv: readonly string[], options: RunOptions = {}) =>
  command.run(["pam", "rules", ...argv], { env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" }, ...options });
const sent = () => writesOf(stub).map(({ path, body }) => [path.split("/").at(-1), body]);

it("rules list says on 80 columns what each rule matches, and leaves fields to programs as they are", async () => {
  const { stdout } = await run(["list"], { tty: true, columns: 80 });
  const lines = stripVTControlCharacters(stdout).split("\n");
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  const at = lines[0]!.indexOf("MATCHES");
  const said = lines
    .slice(1)
    .map((line) => line.slice(at).split("  ")[0])
    .join("");
  expect(said.replaceAll(/\s/g, "")).toContain("pathC:\\ProgramFiles\\Vendor\\**,notuserpat");
  expect((await run(["list"])).stdout.split("\n")[0]!.split("\t")).toHaveLength(6);
  expect(JSON.parse((await run(["list", "--json"])).stdout)).toEqual(plain);
});

describe("rules reorder", () => {
  it("moves a rule with one change, which it shows before it asks", async () => {
    const asked: string[] = [];
    const no = await run(["reorder", "Deny games", "--first"], { tty: true, answers: ["no"], asked });
    expect([no.code, sent()]).toEqual([2, []]);
    expect(no.stderr).toContain("Deny games: 3 -> 1 of 3, priority 30 -> 4");
    expect(asked[0]).toContain("Change the priority of 1 of 3 rules");
    expect((await run(["reorder", "Deny games", "--first", "--yes"])).code).toBe(0);
    expect(sent()).toEqual([[idOf(3), { priority: 4 }]]);
    stub.seen.length = 0;
    await run(["reorder", idOf(1), "--after", "ask for GAMES", "--yes"]);
    expect(sent()).toEqual([[idOf(1), { priority: 25 }]]);
    stub.seen.length = 0;
    await run(["reorder", "Known installers", "--last", "--yes"]);
    expect(sent()).toEqual([[idOf(1), { priority: 40 }]]);
  });

  it("numbers all anew where there is no room, what goes down behind what goes up, and sends nothing behind a failure", async () => {
    rules = [rule(1, "A", 5), rule(2, "B", 6), rule(3, "C", 7), rule(4, "D", 700)];
    const argv = ["reorder", "D", "--before", "B", "--yes", "--json"];
    expect((await run(argv)).code).toBe(0);
    expect(sent()).toEqual([
      [idOf(3), { priority: 40 }],
      [idOf(2), { priority: 30 }],
      [idOf(1), { priority: 10 }],
      [idOf(4), { priority: 20 }],
    ]);
    stub.seen.length = 0;
    refused = idOf(2);
    const ran = await run(argv);
    expect(ran.code).toBe(9);
    expect(sent()).toEqual([
      [idOf(3), { priority: 40 }],
      [idOf(2), { priority: 30 }],
    ]);
    const outcomes = JSON.parse(ran.stdout) as { outcome: string; key: string }[];
    expect(outcomes.map(({ outcome, key }) => [key, outcome])).toEqual([
      ["C", "done"],
      ["B", "failed"],
      ["A", "skipped"],
      ["D", "skipped"],
    ]);
  });

  it("takes the order of a file: lines, or what rules list prints", async () => {
    const path = join(command.dir, "order");
    for (const text of [
      "# first\nDeny games\n\nKnown installers\nAsk for games\n",
      "- Deny games\n- Known installers\n- Ask for games\n",
      JSON.stringify([plain[2], plain[0], plain[1]]),
    ]) {
      stub.seen.length = 0;
      writeFileSync(path, text);
      expect((await run(["reorder", "-f", path, "--yes"])).code, text).toBe(0);
      expect(sent(), text).toEqual([[idOf(3), { priority: 4 }]]);
    }
    writeFileSync(path, "Known installers\nAsk for games\nDeny games\n");
    stub.seen.length = 0;
    const same = await run(["reorder", "-f", path]);
    expect([same.code, sent(), same.stderr]).toEqual([0, [], expect.stringContaining("in this order already")]);
  });

  it("refuses what says no order, and sends nothing", async () => {
    const path = join(command.dir, "order");
    for (const [text, why] of [
      ["Deny games\n", "leaves out Known installers, Ask for games"],
      ["Deny games\nDeny games\nKnown installers\nAsk for games", "Deny games stands there twice"],
      ["Deny game\n", "Deny games"],
      ["- {verdict: ignore}", "neither id nor name"],
    ] as const) {
      writeFileSync(path, text);
      const ran = await run(["reorder", "-f", path, "--yes"]);
      expect([ran.code === 2 || ran.code === 3, ran.stderr], text).toEqual([true, expect.stringContaining(why)]);
    }
    for (const argv of [
      [],
      ["Deny games"],
      ["Deny games", "--first", "--last"],
      ["Deny games", "--before", "Deny games"],
    ])
      expect((await run(["reorder", ...argv, "--yes"])).code).toBe(2);
    rules = [...plain, rule(4, "Theirs", 5, { orgId: ids.fabrikam })];
    expect((await run(["reorder", "Deny games", "--first", "--yes"])).stderr).toContain("--org");
    expect(sent()).toEqual([]);
  });
});

describe("rules test", () => {
  it("sends a stored rule, or a draft, with the request, and says how each criterion compares", async () => {
    comparison = {
      ...{ matches: false, isAbout: true, isAtSite: true, isInWindow: false },
      criteria: [
        { criterion: "user", wanted: "pat", negated: true, compared: "unmet" },
        { criterion: "pathGlob", wanted: "C:\\Program Files\\Vendor\\**", negated: false, compared: "absent" },
      ],
    };
    const ran = await run(["test", "known installers", "--against", idOf(9)], { tty: true, columns: 120 });
    expect(ran.code, ran.stderr).toBe(0);
    const draft = { matchPathGlob: "C:\\Program Files\\Vendor\\**", matchUser: "pat", matchNegate: ["user"] };
    expect(sent()).toEqual([["preview", { orgId: ids.contoso, ...draft, requestId: idOf(9) }]]);
    const text = stripVTControlCharacters(ran.stdout);
    expect(text).toMatch(/^user +not pat +jo\\u202e +holds$/m);
    expect(text).toMatch(/^pathGlob +C:\\Program Files\\Vendor\\\*\* +fails: not reported$/m);
    expect(ran.stderr).toContain("The rule Known installers does not match");
    expect(ran.stderr).toContain("outside its time window");
    stub.seen.length = 0;
    const json = await run(["test", "--against", idOf(9), "--match-user", "jo", "--json"]);
    expect(sent()).toEqual([["preview", { orgId: ids.contoso, matchUser: "jo", requestId: idOf(9) }]]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      rule: null,
      matches: false,
      criteria: [{ reported: "jo\u202e" }, {}],
    });
  });

  it("needs a request, and says what it cannot compare", async () => {
    expect((await run(["test", "Deny games"])).stderr).toContain("--against");
    comparison = null;
    const ran = await run(["test", "Deny games", "--against", idOf(9)]);
    expect([ran.code, ran.stdout]).toEqual([1, ""]);
  });
});

describe("rules preview", () => {
  const sampled = (at: number, more: object) => ({
    ...{ id: idOf(at), requestedAt: "2026-03-02T06:00:00.000Z", flowType: "uac_intercept", status: "pending" },
    ...{ subjectUsername: "jo\u202e", targetExecutablePath: "C:\\Tools\\a.exe", toolName: null },
    ...more,
  });
  const preview = async (more: object, argv: readonly string[] = []) => {
    found = { totalMatched: 2, totalScanned: 4, windowDays: 30, truncated: false, sample: [], ...more };
    const ran = await run(["preview", "--match-user", "jo", ...argv], { tty: true, columns: 80 });
    found = {};
    return { ...ran, stdout: stripVTControlCharacters(ran.stdout) };
  };

  it("shows the requests in a table that fits, and says in a sentence how many match", async () => {
    comparison = null;
    const sample = [sampled(1, {}), sampled(2, { targetExecutablePath: null, toolName: "run_script" })];
    const statusBreakdown = { pending: 1, approved: 0, denied: 1 };
    const { code, stdout, stderr } = await preview({ sample, statusBreakdown });
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/^2 of 4 requests of the last 30 days match: 1 pending, 1 denied$/m);
    const [head, ...rows] = stdout.trimEnd().split("\n");
    expect(head).toMatch(/^STATUS +SUBJECT USERNAME +TARGET +REQUESTED +ID$/);
    expect(rows[0]).toMatch(/^pending +jo\\u202e +C:\\Tools\\a\.exe +3 hours ago +aaaaaaaa-0001$/);
    expect(rows[1]).toContain("  run_script  ");
    for (const line of [head!, ...rows]) expect(line.length).toBeLessThanOrEqual(80);
    const json = await run(["preview", "--match-user", "jo", "--json"], { tty: true });
    expect(JSON.parse(json.stdout)).toEqual({ success: true, comparison: null });
  });

  it("says so where nothing or little matches, and of one request whether that one does", async () => {
    comparison = null;
    const none = await preview({ totalMatched: 0, totalScanned: 5000, truncated: true, statusBreakdown: {} });
    expect([none.stdout, none.stderr]).toEqual(["", "None of the newest 5,000 requests of the last 30 days match\n"]);
    const many = await preview({ totalMatched: 12, totalScanned: 12, windowDays: 1, statusBreakdown: { pending: 12 } });
    expect(many.stderr).toContain("12 of 12 requests of the last day match: 12 pending; the newest 0 are shown");
    comparison = { matches: true, criteria: [{ criterion: "user", wanted: "jo", negated: false, compared: "met" }] };
    const one = await preview({ totalMatched: 1, totalScanned: 1, statusBreakdown: {} }, ["--request-id", idOf(9)]);
    expect(one.stdout).toContain("COMPARISON MATCHES  true\n");
    expect(one.stdout).toMatch(/^COMPARISON CRITERIA\n {2}CRITERION .*\n {2}user +jo +false +met$/m);
    expect(one.stderr).toBe("The request matches\n");
  });
});
