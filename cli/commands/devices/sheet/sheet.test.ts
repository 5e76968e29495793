import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { refusal, type Stub } from "#sdk/stub-server";
import { ids, paged, stubApi, writesOf } from "../../../test-api.ts";
import { testCommand } from "../../../test-shell.ts";

const command = testCommand();
let stub: Stub;
const [A, B, NEW] = ["a", "b", "c"].map((one) => `${one.repeat(8)}-0000-4000-8000-000000000000`) as [
  string,
  string,
  string,
];
const device = (id: string, hostname: string, fields: object = {}) => ({
  ...{ id, orgId: ids.contoso, siteId: ids.hq, hostname, displayName: null as string | null, tags: [] as string[] },
  ...{ orgName: "Contoso Dental", siteName: "HQ", status: "online", osType: "windows", deviceRole: "workstation" },
  ...{
    enrolledAt: "2026-01-02T08:00:00.000Z",
    lastSeenAt: "2026-03-02T08:59:00.000Z",
    agentVersion: "1.0.0",
    customFields: {} as Record<string, unknown>,
  },
  ...fields,
});
let devices: ReturnType<typeof device>[];
let busy = 0;
const field = (fieldKey: string, type: string, more: object = {}) => ({
  ...{ id: fieldKey, fieldKey, type, name: fieldKey, orgId: null, options: null, required: false, deviceTypes: null },
  ...more,
});
const fields = [
  field("rack", "number", { options: { min: 1, max: 48 } }),
  field("owner", "text"),
  field("plan", "dropdown", {
    options: {
      choices: [
        { label: "Gold plan", value: "gold" },
        { label: "Basic", value: "basic" },
      ],
    },
  }),
  field("managed", "boolean", { required: true }),
  field("until", "date"),
  field("plist", "text", { deviceTypes: ["macos"] }),
];

beforeAll(async () => {
  const changing = (id: string) => ({
    [`GET /devices/${id}`]: () => ({ body: devices.find((one) => one.id === id) }),
    [`PATCH /devices/${id}`]: ({ body }: { body: unknown }) => {
      if (busy-- > 0) return refusal(429, "RATE_LIMITED", {}, { "retry-after": "0" });
      if ((body as { displayName?: string }).displayName === "forbidden") return refusal(403, "SITE_ACCESS_DENIED");
      Object.assign(devices.find((one) => one.id === id) as object, body);
      return { body: devices.find((one) => one.id === id) };
    },
    [`PATCH /devices/${id}/custom-fields`]: ({ body }: { body: unknown }) => {
      const { customFields } = devices.find((one) => one.id === id) ?? { customFields: {} };
      Object.assign(customFields, body);
      return { body: { customFields } };
    },
  });
  stub = await stubApi({
    "GET /devices": (_seen, query) => {
      const search = query.get("search");
      return {
        body: {
          devices: devices.filter(({ hostname }) => [null, hostname].includes(search)),
          nextCursor: null,
          limit: 1000,
        },
      };
    },
    ...changing(A),
    ...changing(B),
    ...changing(NEW),
    "GET /custom-fields": (_seen, query) => paged(fields, query),
    "POST /devices/provision": ({ body }) => {
      const made = device(NEW, "", { ...(body as object), status: "pending" });
      devices.push(made);
      const secrets = { enrollmentKey: "key-of-it", enrollmentSecret: "secret-of-it", singleUse: true };
      return {
        status: 201,
        body: { device: made, enrollment: { ...secrets, serverUrl: "https://x", expiresAt: "2090-01-01T00:00:00Z" } },
      };
    },
  });
});
beforeEach(() => {
  stub.seen.length = 0;
  busy = 0;
  devices = [
    device(A, "till-1", {
      displayName: '=HYPERLINK("http://x")',
      tags: ["kiosk", "a, b"],
      customFields: { rack: 4, owner: '  Ana\r\n"Lima" ', plan: "gold", managed: true, until: "2026-01-31" },
    }),
    device(B, "-5", { displayName: "'@risk", customFields: { owner: "", rack: -3 } }),
  ];
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const run = (...argv: string[]) =>
  command.run(["devices", ...argv], { env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" } });
const file = (name: string, text: string) => {
  writeFileSync(join(command.dir, name), text);
  return join(command.dir, name);
};
const imported = async (text: string, ...argv: string[]) => {
  const ran = await run("import", file("devices.csv", text), "--json", ...argv);
  return { ...ran, rows: ran.stdout === "" ? [] : JSON.parse(ran.stdout) };
};

it("an export has what a bill is made of, and tells programs where it is", async () => {
  const path = join(command.dir, "bill.csv");
  const ran = await run("export", "-o", path, "--format", "csv", "--json");
  expect(ran.code, ran.stderr).toBe(0);
  expect(JSON.parse(ran.stdout)).toEqual({ path, devices: 2 });
  const [header = "", first = ""] = readFileSync(path, "utf8").split("\n");
  const cells = Object.fromEntries(header.split(",").map((name, place) => [name, place]));
  expect(Object.keys(cells)).toEqual(expect.arrayContaining(["orgName", "status", "enrolledAt", "lastSeenAt"]));
  expect(first).toContain(",Contoso Dental,online,2026-01-02T08:00:00.000Z,2026-03-02T08:59:00.000Z,");
  rmSync(path);
});

describe("rmm devices set", () => {
  it("reads values as their fields hold them, and sends what differs", async () => {
    const texts = [
      "rack=12",
      "plan=gold PLAN",
      "managed=no",
      "until=2028-01-31",
      `owner=@${file("owner.txt", "Bo\n")}`,
    ];
    const ran = await run("set", "till-1", ...texts.flatMap((one) => ["--field", one]), "--json");
    expect(ran.code, ran.stderr).toBe(0);
    expect(writesOf(stub).map(({ body }) => body)).toEqual([
      { rack: 12, managed: false, until: "2028-01-31", owner: "Bo" },
    ]);
    const again = await run("set", "till-1", "--unset", "owner", "--field", "rack=12", "--json");
    expect(JSON.parse(again.stdout)).toMatchObject([
      { outcome: "done", changes: [{ field: "custom.owner", after: null }] },
    ]);
  });

  it.each([
    ["rack=99", "rack must be a number of 1 to 48"],
    ["rack=x", "rack must be a number"],
    ["plan=silver", "plan must be one of gold, basic"],
    ["managed=maybe", "managed must be true or false"],
    ["until=soon", "until must be a date such as 2026-01-31"],
    ["rak=1", "There is no custom field rak (did you mean rack?)"],
    ["plist=x", "only devices with macos have it"],
  ])("%s is refused for all devices before anything is sent: %s", async (value, message) => {
    const ran = await run("set", "till-1", "-5", "--field", "owner=Bo", "--field", value);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain(message);
    expect(writesOf(stub)).toEqual([]);
  });
});

describe("rmm devices export and import", () => {
  it("what was exported changes nothing, and no cell begins as a formula", async () => {
    const { stdout } = await run("export");
    for (const cell of stdout.split(/[\n,]/)) expect(cell).not.toMatch(/^"?[=+@]/);
    expect(stdout).toContain(`"'=HYPERLINK(""http://x"")"`);
    const { code, rows, stderr } = await imported(stdout);
    expect(rows.flatMap(({ changes }: { changes: object[] }) => changes)).toEqual([]);
    expect([code, rows.map(({ outcome }: { outcome: string }) => outcome)], stderr).toEqual([
      0,
      ["unchanged", "unchanged"],
    ]);
    expect(writesOf(stub)).toEqual([]);
    const objects = JSON.parse(
      (await run("export", "--format", "json", "--columns", "hostname,org,tags,custom.rack")).stdout,
    );
    expect(objects[0]).toEqual({
      hostname: "till-1",
      org: "contoso-dental",
      tags: ["kiosk", "a, b"],
      "custom.rack": 4,
    });
  });

  it("sends what differs, names a bad row with line and column, does the others, and may be repeated", async () => {
    busy = 1;
    const text = [
      "Org;Computer;displayName;tags;custom.rack;Price",
      "contoso-dental;TILL-1;Front desk;kiosk,spare;40;9",
      "contoso-dental;-5;;;400;9",
      "contoso-dental;nobody;x;;;9",
      "nowhere;till-1;x;;;9",
      "contoso-dental;till-1;y;;;9",
    ].join("\n");
    const flags = ["--map", "org=Org", "--map", "hostname=Computer", "--ignore", "Price", "--concurrency", "2"];
    const first = await imported(text, ...flags);
    expect(first.code, first.stderr).toBe(9);
    expect(first.rows.map(({ item, outcome }: never) => [(item as { line: number }).line, outcome])).toEqual([
      [2, "done"],
      ...[3, 4, 5, 6].map((line) => [line, "failed"]),
    ]);
    const messages = first.rows.slice(1).map(({ error }: { error: { message: string } }) => error.message);
    expect(messages).toEqual([
      expect.stringContaining("rack must be a number of 1 to 48"),
      expect.stringContaining("hostname: there is no device nobody"),
      expect.stringContaining("no organization nowhere"),
      expect.stringContaining("line 2 is about till-1 too"),
    ]);
    expect(devices[0]).toMatchObject({
      displayName: "Front desk",
      tags: ["kiosk", "spare"],
      customFields: { rack: 40, owner: expect.any(String) },
    });
    stub.seen.length = 0;
    expect((await imported(text.replace("kiosk,spare", "spare, kiosk"), ...flags)).rows[0].outcome).toBe("unchanged");
    expect(writesOf(stub)).toEqual([]);
  });

  it("an empty cell leaves a value, with --clear-empty it takes it away; a plan sends nothing", async () => {
    const text = `id,displayName,custom.owner,custom.managed\n${A},,,\n`;
    expect((await imported(text)).rows[0].outcome).toBe("unchanged");
    const plan = await imported(text.replace(",custom.managed", "").replace(",,,", ",,"), "--clear-empty", "--plan");
    expect(plan.rows[0]).toMatchObject({
      outcome: "planned",
      changes: [{ field: "displayName", after: null }, { field: "custom.owner" }],
    });
    expect((await imported(text, "--clear-empty")).rows[0].error.message).toContain("custom.managed: is required");
    expect(writesOf(stub)).toEqual([]);
  });

  it("a column that nobody knows, and a file without devices, are refused before anything is read", async () => {
    for (const [text, message] of [
      ["hostname,rack\ntill-1,4\n", "No device has rack"],
      ["displayName\nx\n", "neither a column id nor a column hostname"],
      ["hostname,hostname\nx,y\n", "No device has hostname (2)"],
    ]) {
      const ran = await imported(text as string);
      expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(message as string)]);
    }
    expect(stub.seen).toEqual([]);
  });

  it("--provision adds what is not there; keys go to files of 0600 alone, and a second run adds nothing", async () => {
    const text = "org,site,hostname,osType,displayName,custom.rack\ncontoso-dental,HQ,../new,windows,Till,7\n";
    const without = await imported(text, "--provision");
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining("--secret-file or --secret-dir")]);
    expect(writesOf(stub)).toEqual([]);
    const folder = join(command.dir, "secrets");
    const ran = await imported(text, "--provision", "--secret-dir", folder);
    expect(ran.code, ran.stderr).toBe(0);
    const [name, ...others] = readdirSync(folder);
    expect([name, others]).toEqual([`contoso-dental_device_new_${NEW.slice(-12)}.json`, []]);
    const kept = JSON.parse(readFileSync(join(folder, name as string), "utf8"));
    expect(kept).toMatchObject({ enrollmentKey: "key-of-it", enrollmentSecret: "secret-of-it", deviceId: NEW });
    expect(statSync(join(folder, name as string)).mode & 0o777).toBe(0o600);
    expect(ran.stdout + ran.stderr).not.toMatch(/key-of-it|secret-of-it/);
    expect(devices.at(-1)).toMatchObject({ siteId: ids.hq, customFields: { rack: 7 } });
    stub.seen.length = 0;
    rmSync(folder, { recursive: true });
    const again = await imported(text, "--provision", "--secret-dir", folder);
    expect(again.rows[0].outcome).toBe("unchanged");
    expect(writesOf(stub)).toEqual([]);
  });
});
