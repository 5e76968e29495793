import { PassThrough } from "node:stream";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { refusal, type Stub } from "#sdk/stub-server";
import { paged, stubApi, writesOf } from "../../test-api.ts";
import { type RunOptions, testCommand } from "../../test-shell.ts";

const command = testCommand();
let stub: Stub;
let refused = false;
const [one, two] = ["3f2a9100-0000-4000-8000-000000000001", "9b000000-0000-4000-8000-000000000003"];
const request = (id: string, riskTier: number | null) => ({
  ...{ id, status: "pending", flowType: "uac_intercept", deviceId: null, deviceHostname: "till-1", siteName: "HQ" },
  ...{ subjectUsername: "jana\u202e", reason: null, requestedByName: null, targetExecutablePath: "C:/a.exe", riskTier },
  ...{ targetExecutableHash: null, targetExecutableSigner: null, targetExecutableSignerThumbprint: null },
  ...{ parentImage: null, commandLine: "a.exe \u0007/S", pamRuleName: null, matchedPolicyName: null },
  ...{ requestedDurationMinutes: null, requestedAt: "2026-01-01T00:00:00.000Z", waitsUntil: null },
});
const all = [request(one, null), request(two, 4)];
let waiting = all;

beforeAll(async () => {
  const each = all.flatMap((row) => [
    [`GET /pam/elevation-requests/${row.id}`, () => ({ body: { ...row, events: [] } })] as const,
    [
      `POST /pam/elevation-requests/${row.id}/respond`,
      () => (refused ? refusal(409, "INVALID_STATE") : { body: { success: true, id: row.id, status: "denied" } }),
    ] as const,
  ]);
  stub = await stubApi({
    "GET /pam/elevation-requests": (_seen, query) => {
      const { body } = paged(waiting, query);
      return { body: { success: true, requests: body.data, pagination: body.pagination } };
    },
    ...Object.fromEntries(each),
  });
});
beforeEach(() => {
  stub.seen.length = 0;
  refused = false;
  waiting = all;
});
afterAll(async () => {
  await stub.close();
  command.close();
});
const sent = () => writesOf(stub).map(({ path, body }) => [path.split("/").at(-2), body]);
const looks = () => stub.seen.filter(({ method, path }) => method === "GET" && path.includes("status=pending")).length;

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 500 && !holds(); tries++) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(holds()).toBe(true);
}

/** Watches on a terminal; each key is typed once what the one before began is over and it looks again. */
async function watched(keys: string, options: RunOptions = {}, argv: readonly string[] = []) {
  const stdin = new PassThrough();
  const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" };
  const ran = command.run(["pam", "watch", ...argv], { env, stdin, tty: true, ...options });
  for (const [at, key] of [...keys].entries()) {
    await until(() => looks() > at);
    await new Promise((resolve) => setTimeout(resolve, 50));
    stdin.write(key);
  }
  return ran;
}
const label = (id: string) => `till-1  jana\\u202e  C:/a.exe  ${id}`;

it("decides by keys: of several it asks which, shows it whole, asks, and hides what proves who one is", async () => {
  const asked: string[] = [];
  const answers = [label(one), "yes", label(two), "yes", "Correct-Horse-7"];
  const ran = await watched("daq", { answers, asked });
  expect(ran.code).toBe(0);
  expect(sent()).toEqual([
    [one, { decision: "deny" }],
    [two, { decision: "approve", reauthPassword: "Correct-Horse-7" }],
  ]);
  expect(asked).toHaveLength(5);
  expect(ran.stderr).toContain("Keys: a approves, d denies, s shows, q quits");
  for (const text of [ran.stdout, ran.stderr])
    expect(text).not.toMatch(/Correct-Horse-7|\u0007|\u202e|\u001b\[\?1049h/);
}, 20_000);

it("shows one with everything, and decides nothing by a key alone, with --yes or without", async () => {
  waiting = [all[0]!];
  const shown = await watched("saq", { answers: ["no"] }, ["--yes"]);
  expect(shown.stderr).toContain("Command line a.exe");
  expect(shown.stderr).toContain("Nothing was decided");
  expect([shown.code, sent()]).toEqual([0, []]);
});

it("goes on after a refusal, says when nothing waits, and ends with Ctrl-C", async () => {
  waiting = [all[0]!];
  refused = true;
  const ran = await watched("d\u0003", { answers: ["yes"] });
  expect([ran.code, sent()]).toEqual([130, [[one, { decision: "deny" }]]]);
  expect(ran.stderr).toContain("INVALID_STATE. Look at its status first");
  waiting = [];
  expect((await watched("aq")).stderr).toContain("Nothing waits");
});

it("listens to no key where a program reads", async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 400);
  const ran = await watched("a", { signal: stop.signal }, ["--ndjson"]);
  expect([ran.code, sent(), ran.stderr]).toEqual([130, [], ""]);
  expect(
    ran.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).id),
  ).toEqual([two, one]);
});
