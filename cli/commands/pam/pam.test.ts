import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { refusal, type Stub } from "#sdk/stub-server";
import { paged, stubApi, writesOf } from "../../test-api.ts";
import { type RunOptions, testCommand } from "../../test-shell.ts";

const command = testCommand();
let stub: Stub;
/** Requests that somebody else has decided. */
const decided = new Set<string>();

const one = "3f2a9100-0000-4000-8000-000000000001";
const twin = "3f2a9100-0000-4000-8000-000000000002";
const other = "9b000000-0000-4000-8000-000000000003";

const called = "7c000000-0000-4000-8000-000000000005";

const till = "5e000000-0000-4000-8000-000000000004";

const request = (id: string, more: object = {}) => ({
  ...{ id, status: "pending", flowType: "uac_intercept", deviceId: till, deviceHostname: "till-1", siteName: "HQ" },
  ...{ subjectUsername: "CONTOSO\\jana", subjectUserId: null, reason: null, requestedByName: null },
  ...{ targetExecutablePath: "C:/a.exe", targetExecutableHash: "ab".repeat(32), targetExecutableSigner: "Contoso Ltd" },
  ...{
    targetExecutableSignerThumbprint: null,
    parentImage: "C:/explorer.exe",
    commandLine: "a.exe \u202egnp.exe \u200b\u{e0041}",
  },
  ...{ pamRuleName: "Ask", matchedPolicyName: null, riskTier: null, requestedDurationMinutes: null },
  ...{ requestedAt: "2026-01-01T00:00:00.000Z", waitsUntil: "2026-03-02T09:42:10.000Z" },
  ...more,
});

const events = [
  { event: "requested", at: "2026-03-02T08:42:10.000Z", actorType: "agent", actorName: null, details: {} },
  { event: "denied", at: "2026-03-02T08:43:00.000Z", actorType: "user", actorName: "Ana", details: { reason: "no" } },
];
const waiting = [request(one), request(twin), request(other, { riskTier: 4 })];
const call = request(called, {
  ...{ flowType: "ai_tool_action", subjectUsername: `key:${one}`, toolName: "set_device_custom_fields", riskTier: 2 },
  toolInput: { deviceId: till, values: { door: "1\u202e234\nx" } },
});

beforeAll(async () => {
  const list = (_seen: unknown, query: URLSearchParams) => {
    const { body } = paged(waiting, query);
    return { body: { success: true, requests: body.data, pagination: body.pagination } };
  };
  const each = [...waiting, call].flatMap((row) => [
    [`GET /pam/elevation-requests/${row.id}`, () => ({ body: { ...row, events } })] as const,
    [
      `POST /pam/elevation-requests/${row.id}/respond`,
      () =>
        decided.has(row.id)
          ? refusal(409, "INVALID_STATE", { details: { status: "denied" } })
          : { body: { success: true, id: row.id, status: "approved", enforcementStatus: "pending_dispatch" } },
    ] as const,
  ]);
  stub = await stubApi({ "GET /pam/elevation-requests": list, ...Object.fromEntries(each) });
});
beforeEach(() => {
  stub.seen.length = 0;
  decided.clear();
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const run = (argv: readonly string[], options: RunOptions = {}) =>
  command.run(["pam", ...argv], { env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" }, ...options });
const sent = () => writesOf(stub).map(({ path, body }) => [path.split("/").at(-2), body]);

describe("rmm pam approve", () => {
  it("shows everything that is decided on before it asks, with what turns a line around escaped", async () => {
    const asked: string[] = [];
    const ran = await run(["approve", other.slice(0, 8)], { tty: true, answers: ["no"], asked });
    for (const text of [
      "till-1",
      "HQ",
      "CONTOSO\\jana",
      "C:/a.exe",
      "Contoso Ltd",
      "C:/explorer.exe",
      "Ask",
      "critical",
      "Time left    42 minutes",
    ])
      expect(ran.stderr).toContain(text);
    expect(ran.stderr).toContain("a.exe \\u202egnp.exe \\u200b\\u{e0041}");
    expect(ran.stderr).not.toMatch(/[\u202e\u200b\u{e0041}]/u);
    expect(asked).toHaveLength(1);
    expect(sent()).toEqual([]);
  });

  it("shows of a call of a tool which one, with everything that it is called with, and no order to the device", async () => {
    const ran = await run(["approve", called, "--yes"]);
    expect(ran.code, ran.stderr).toBe(0);
    expect(ran.stderr).toMatch(/^Tool +set_device_custom_fields$/m);
    expect(ran.stderr).toContain(`Input        {"deviceId":"${till}","values":{"door":"1\\u202e234\\nx"}}`);
    expect(ran.stderr).not.toContain("actuate");
  });

  it("sends the window and the reason, and at the highest risk the password, asked for hidden", async () => {
    const plain = await run(["approve", one, "--for", "1h30m", "--reason", "known", "--yes"]);
    expect([plain.code, sent()]).toEqual([0, [[one, { decision: "approve", reason: "known", durationMinutes: 90 }]]]);
    expect(plain.stderr).toContain("Where the server carries approvals out (PAM_ACTUATOR_ENABLED)");
    expect(plain.stderr).toContain(`\`rmm pam actuate ${till} --elevation-request-id ${one}\``);
    stub.seen.length = 0;
    const asked: string[] = [];
    const critical = await run(["approve", other], { tty: true, answers: ["yes", "Correct-Horse-7"], asked });
    expect([critical.code, asked.length]).toEqual([0, 2]);
    expect(sent()).toEqual([[other, { decision: "approve", reauthPassword: "Correct-Horse-7" }]]);
    expect(critical.stderr + critical.stdout).not.toContain("Correct-Horse-7");
    stub.seen.length = 0;
    expect((await run(["approve", other, "--yes"])).code).toBe(2);
    expect(sent()).toEqual([]);
  });

  it("the beginning of several ids is none of them, and a short one is too little", async () => {
    for (const id of ["3f2a91", "9b00", "777777"]) expect((await run(["approve", id, "--yes"])).code).not.toBe(0);
    for (const window of ["0m", "25h", "90s", "x"])
      expect((await run(["approve", one, "--yes", "--for", window])).code).toBe(2);
    expect((await run(["approve", one])).code).toBe(2);
    expect(sent()).toEqual([]);
  });

  it("takes whole ids where nobody is asked: what begins so may be another one by now", async () => {
    const ran = await run(["deny", "9b000000-0000", "--yes"]);
    expect([ran.code, sent()]).toEqual([2, []]);
    const asked = await run(["approve", "9b000000-0000"], { tty: true, answers: ["yes", "Correct-Horse-7"] });
    expect([asked.code, sent().length]).toEqual([0, 1]);
  });

  it("tells of each of several what became of it", async () => {
    decided.add(twin);
    const ran = await run(["approve", one, twin, "--yes", "--json"]);
    expect(ran.code).toBe(9);
    expect(JSON.parse(ran.stdout).map(({ outcome }: { outcome: string }) => outcome)).toEqual(["done", "failed"]);
  });
});

describe("rmm pam deny", () => {
  it("asks for no proof", async () => {
    expect((await run(["deny", other, "--yes", "--reason", "no"])).code).toBe(0);
    expect(sent()).toEqual([[other, { decision: "deny", reason: "no" }]]);
  });
});

describe("ids of requests", () => {
  it("stand in lists on 80 columns, as long as it takes to tell them apart, and whole where there is room", async () => {
    const narrow = await run(["list"], { tty: true, columns: 80 });
    // Two of them are of one moment, and differ in the last character.
    for (const id of [one, twin, other]) expect(narrow.stdout).toContain(`  ${id}\n`);
    const apart = await run(["list", "--limit", "1"], { tty: true, columns: 80 });
    expect(apart.stdout).toContain(`  ${one.slice(0, 13)}\n`);
    expect(apart.stderr.replaceAll(/\s+/g, " ")).toContain("all of id: --wide shows all columns");
    for (const line of stripVTControlCharacters(`${narrow.stdout}${apart.stdout}`).split("\n"))
      expect(line.length).toBeLessThanOrEqual(80);
    expect((await run(["list", "--limit", "1"], { tty: true, columns: 200 })).stdout).toContain(`  ${one}\n`);
    expect((await run(["list"])).stdout).toContain(`\t${one}\n`);
  });

  it("name one that is shown with its ledger in a table, within 80 columns", async () => {
    const { stdout, code } = await run(["show", other], { tty: true, columns: 80 });
    const text = stripVTControlCharacters(stdout);
    expect(code).toBe(0);
    expect(text).toMatch(/^NOT SET +.*$/m);
    expect(text).toMatch(
      /^EVENTS\n {2}TIME +EVENT +WHO +DETAILS\n {2}2026-03-02T08:42:10Z +requested +the device\n {2}2026-03-02T08:43:00Z +denied +Ana +reason: no\n$/m,
    );
    const json = await run(["show", other, "--json=events"], { tty: true });
    expect(JSON.parse(json.stdout)).toEqual({ events });
  });

  it("may be begun where a request is shown or taken back, but for --yes", async () => {
    const shown = await run(["show", "9b0000", "--json"]);
    expect([shown.code, JSON.parse(shown.stdout).id]).toEqual([0, other]);
    const several = await run(["get", "3f2a9100"]);
    expect(several.code).toBe(2);
    for (const id of [one, twin]) expect(several.stderr).toContain(id);
    expect((await run(["get", "777777"])).code).toBe(3);
    expect((await run(["get", "ffffffffffff"])).code).toBe(3);
    expect((await run(["get", "till-1"])).code).toBe(2);
    expect((await run(["revoke", "9b0000", "--reason", "done", "--yes"])).code).toBe(2);
    expect(sent()).toEqual([]);
    await run(["revoke", "9b0000", "--reason", "done"], { tty: true, answers: ["yes"] });
    expect(sent()).toEqual([[other, { reason: "done" }]]);
  });
});

describe("rmm pam create", () => {
  it("is not asked for the only way that there is", async () => {
    await run(["create", "--device-id", till, "--reason", "printer"]);
    expect(writesOf(stub).map(({ body }) => body)).toEqual([
      { deviceId: till, reason: "printer", flowType: "tech_jit_admin" },
    ]);
    expect((await run(["create", "--help"])).stdout).not.toMatch(/^ {2}rmm .*--flow-type/m);
  });
});

describe("rmm pam stats and watch", () => {
  it("count by status, and show what waits", async () => {
    const counted = JSON.parse((await run(["stats", "--json"])).stdout);
    expect(counted).toHaveLength(7);
    expect(counted[0]).toEqual({ status: "pending", requests: 3 });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 300);
    const watched = await run(["watch", "--ndjson"], { signal: stop.signal });
    const lines = watched.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ change, id }) => [change, id])).toEqual([other, twin, one].map((id) => ["waits", id]));
  });

  it("says on a terminal which id to decide", async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 300);
    const { stdout } = await run(["watch"], { signal: stop.signal, tty: true, columns: 200 });
    expect(stdout).toContain(`  ${one}\n`);
  });
});
