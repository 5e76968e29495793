import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Stub } from "#sdk/stub-server";
import { ids, paged, stubApi, writesOf } from "../../test-api.ts";
import { type RunOptions, testCommand } from "../../test-shell.ts";
import { settingRows } from "./settings-rows.ts";

const command = testCommand();
let stub: Stub;
const group = "aaaaaaaa-0001-4000-8000-000000000000";
const till = "aaaaaaaa-0002-4000-8000-000000000000";
const programs = [{ name: "7-Zip", signer: "Igor Pavlov", pathGlob: "C:\\Program Files\\7-Zip\\**" }];
const policy = {
  ...{ id: ids.twin, name: "Prompts", orgId: ids.contoso, status: "active", version: 3, description: null },
  features: [
    { id: "1", type: "event_log", settings: { retentionDays: 30, collectCategories: ["security", "system"] } },
    { id: "2", type: "software_policy", settings: { mode: "blocklist", executable: programs } },
  ],
  assignments: [
    { id: "3", level: "site", targetId: ids.hq, targetName: "HQ", priority: 0, roleFilter: ["server"], osFilter: null },
  ],
};
const source = { sourcePolicyId: ids.twin, sourcePolicyName: "Prompts", sourceLevel: "site", sourceTargetId: ids.hq };
const none = {
  settings: null,
  sourcePolicyId: null,
  sourcePolicyName: null,
  sourceLevel: "default",
  sourceTargetId: null,
};
const effective = {
  deviceId: till,
  effective: { pam: { settings: { uacInterceptionEnabled: true }, ...source }, software_policy: none },
};

beforeAll(async () => {
  stub = await stubApi({
    [`GET /policies/${ids.twin}`]: () => ({ body: policy }),
    [`GET /policies/effective/device/${till}`]: () => ({ body: effective }),
    "POST /policies": ({ body }) => ({ status: 201, body: { ...policy, ...(body as object) } }),
    [`PATCH /policies/${ids.twin}`]: () => ({ body: policy }),
    "GET /groups": (_seen, query) =>
      paged(query.get("orgId") === ids.fabrikam ? [] : [{ id: group, name: "Tills", orgId: ids.contoso }], query),
    "GET /devices": () => ({
      body: { devices: [{ id: till, hostname: "till-1", orgId: ids.contoso }], nextCursor: null, limit: 100 },
    }),
    "GET /orgs/partners/me": () => ({ body: { id: ids.otherHq, name: "Summit", slug: "summit" } }),
    "GET /users/me": () => ({ body: { scope: "partner" } }),
  });
});
beforeEach(() => {
  stub.seen.length = 0;
});
afterAll(async () => {
  await stub.close();
  command.close();
});
const run = (argv: readonly string[], options: RunOptions = {}) =>
  command.run(["policies", ...argv], { env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" }, ...options });
const lines = (text: string) => stripVTControlCharacters(text).split("\n");

describe("policies get and effective", () => {
  it("show a setting a line on 80 columns, and where it comes from", async () => {
    const got = lines((await run(["get", ids.twin], { tty: true, columns: 80 })).stdout);
    expect(got).toContain("event_log.retentionDays        30");
    expect(got).toContain("event_log.collectCategories    security,system");
    expect(got.join(" ").replaceAll(/\s+/g, " ")).toContain(
      "software_policy.executable[1] 7-Zip: signer Igor Pavlov, pathGlob C:\\Program Files\\7-Zip\\**",
    );
    expect(got.some((line) => /^site +HQ +0 +server/.test(line))).toBe(true);
    const holds = lines((await run(["effective", till], { tty: true, columns: 80 })).stdout);
    expect(holds.some((line) => /^pam\.uacInterceptionEnabled +true +Prompts \(site\)$/.test(line))).toBe(true);
    expect(holds.some((line) => /^software_policy +none +default$/.test(line))).toBe(true);
    for (const line of [...got, ...holds]) expect(line.length).toBeLessThanOrEqual(80);
  });

  it("leave the answer to programs as it is", async () => {
    expect(JSON.parse((await run(["get", ids.twin, "--json"])).stdout)).toEqual(policy);
    expect((await run(["effective", till, "--jq", ".effective.pam.sourceLevel"])).stdout).toBe("site\n");
    expect((await run(["get", ids.twin])).stdout).toContain("\nversion\t3\n");
    expect((await run(["show", ids.twin, "--columns", "name,version"])).stdout).toBe("Prompts\t3\n");
  });
});

it("settings of every depth are lines of their own", () => {
  expect(settingRows("a", { b: { c: 1 }, d: [], e: {}, f: [{ x: { y: 1 } }, { name: "n", z: 2 }], g: null })).toEqual([
    { setting: "a.b.c", value: 1 },
    { setting: "a.d", value: "none" },
    { setting: "a.e", value: "none" },
    { setting: "a.f[1]", value: 'x {"y":1}' },
    { setting: "a.f[2]", value: "n: z 2" },
    { setting: "a.g", value: null },
  ]);
});

describe("targets of a policy file", () => {
  const file = (assignments: object[], more: object = {}) => {
    const path = join(command.dir, "policy.json");
    writeFileSync(path, JSON.stringify({ name: "P", ...more, assignments }));
    return path;
  };
  const targets = () =>
    (writesOf(stub)[0]?.body as { assignments: { targetId?: string }[] } | undefined)?.assignments.map(
      ({ targetId }) => targetId,
    );

  it("may be named, with their organization before them, or by id", async () => {
    const path = file([
      { level: "site", targetId: "HQ" },
      { level: "site", target: "fabrikam/HQ", priority: 3 },
      { level: "organization", targetId: "contoso-dental" },
      { level: "device_group", targetId: "contoso-dental/tills" },
      { level: "device", target: "till-1" },
      { level: "device", targetId: group },
      { level: "partner" },
      { level: "partner", targetId: "summit" },
    ]);
    const ran = await run(["create", "--org", "contoso-dental", "-f", path]);
    expect(ran.code, ran.stderr).toBe(0);
    expect(targets()).toEqual([ids.hq, ids.otherHq, ids.contoso, group, till, group, undefined, ids.otherHq]);
    expect(JSON.stringify(writesOf(stub)[0]?.body)).toContain('"priority":3');
    expect(JSON.stringify(writesOf(stub)[0]?.body)).not.toContain('"target"');
    stub.seen.length = 0;
    const shown = await run(["create", "--name", "P"], { tty: true, columns: 80 });
    expect(lines(shown.stdout)).toContain("event_log.retentionDays        30");
    stub.seen.length = 0;
    const flag = ["--assignments", '[{"level":"site","targetId":"contoso-dental/HQ"}]'];
    expect((await run(["update", ids.twin, ...flag])).code).toBe(0);
    expect(targets()).toEqual([ids.hq]);
  });

  it("that are unknown, or have a namesake, are refused before anything is sent", async () => {
    for (const [assignment, why] of [
      [{ level: "site", targetId: "Depot" }, "no site Depot"],
      [{ level: "site", targetId: "HQ" }, "HQ"],
      [{ level: "organization", targetId: "acme" }, "no organization acme"],
      [{ level: "device_group", targetId: "fabrikam/Tills" }, "Tills"],
      [{ level: "site", target: "HQ", targetId: ids.hq }, "assignments[0]"],
    ] as const) {
      const ran = await run(["create", "-f", file([assignment])]);
      expect([[2, 3].includes(ran.code), ran.stderr], JSON.stringify(assignment)).toEqual([
        true,
        expect.stringContaining(why),
      ]);
    }
    expect(writesOf(stub)).toEqual([]);
  });
});
