import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { nodeTransport } from "#sdk/node";
import type { refusal, Stub } from "#sdk/stub-server";
import type { Transport } from "#sdk/transport";
import { ids, stubApi, writesOf } from "../../test-api.ts";
import { type RunOptions, testCommand } from "../../test-shell.ts";

const command = testCommand();
let stub: Stub;
const idOf = (at: number) => `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`;
const device = (at: number, fields: object = {}) => ({
  ...{ id: idOf(at), orgId: ids.contoso, siteId: ids.hq, hostname: `pc-${at}`, displayName: null, tags: [] },
  ...{ orgName: "Contoso Dental", siteName: "HQ", status: "online", osType: "windows", customFields: {} },
  ...fields,
});
const savedFilter = {
  ...{ id: idOf(90), orgId: ids.contoso, name: "Web servers", description: null },
  conditions: { operator: "AND", conditions: [{ field: "tags", operator: "hasAny", value: ["web"] }] },
};
let devices: ReturnType<typeof device>[];
/** As soon as they were listed, others match. */
let changing: boolean;
let refused: ReturnType<typeof refusal> | undefined;
const PAGE = 2;

beforeAll(async () => {
  const one = Object.fromEntries(
    [1, 2, 3].flatMap((at) => [
      [`GET /devices/${idOf(at)}`, () => ({ body: device(at) })],
      [`PATCH /devices/${idOf(at)}`, () => ({ body: device(at) })],
      [`DELETE /devices/${idOf(at)}`, () => ({ body: { success: true } })],
      [`POST /devices/${idOf(at)}/move-org`, () => ({ body: { success: true, device: device(at) } })],
      [`PATCH /devices/${idOf(at)}/custom-fields`, () => ({ body: { customFields: {} } })],
    ]),
  );
  stub = await stubApi({
    ...one,
    "POST /devices/query": ({ body }) => {
      if (refused) return refused;
      const { cursor = "0", limit } = body as { cursor?: string; limit: number };
      const [from, size] = [Number(cursor), Math.min(limit, PAGE)];
      const next = from + size < devices.length ? String(from + size) : null;
      const page = devices.slice(from, from + size);
      const total = (body as { includeTotal?: boolean }).includeTotal ? { total: devices.length } : {};
      if (changing && next === null) devices = [device(3)];
      return { body: { devices: page, nextCursor: next, limit: size, ...total } };
    },
    "POST /devices/bulk/commands": ({ body }) => {
      const { deviceIds, type } = body as { deviceIds: string[]; type: string };
      const commands = deviceIds.map((id) => ({
        ...{ id, deviceId: id, orgId: ids.contoso, type, status: "pending", result: null },
      }));
      return { status: 201, body: { commands, skipped: [], failed: [] } };
    },
    "GET /filters": () => ({ body: { data: [savedFilter], total: 1 } }),
    [`GET /filters/${savedFilter.id}`]: () => ({ body: savedFilter }),
    "GET /custom-fields": () => ({
      body: {
        data: [{ fieldKey: "owner", type: "text", options: null, orgId: null, deviceTypes: null }],
        pagination: { page: 1, limit: 100, total: 1 },
      },
    }),
  });
});
beforeEach(() => {
  stub.seen.length = 0;
  devices = [1, 2, 3].map((at) => device(at));
  refused = undefined;
  changing = false;
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const run = (argv: readonly string[], options: RunOptions = {}) =>
  command.run(["devices", ...argv], { ...options, env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" } });
const queries = () => stub.seen.filter(({ path }) => path.includes("/devices/query"));
const conditionsSent = () => (queries()[0]!.body as { conditions: unknown }).conditions;
const changes = () => writesOf(stub).filter(({ path }) => !path.includes("/devices/query"));
const where = "osType = windows and tags any [web]";
const sent = (field: string, operator: string, value: unknown) => ({ field, operator, value });
const asWritten = [sent("osType", "equals", "windows"), sent("tags", "hasAny", ["web"])];

describe("rmm devices list --where", () => {
  it("lists what matches, and says how many there are", async () => {
    const ran = await run(["list", "--where", where, "--limit", "1", "--json=hostname"]);
    expect(JSON.parse(ran.stdout)).toEqual([{ hostname: "pc-1" }]);
    expect([ran.code, ran.stderr]).toEqual([0, "1 of 3; use --all\n"]);
    expect(conditionsSent()).toEqual({ operator: "AND", conditions: asWritten });
    const all = await run(["list", "--where", where, "--all", "--json=hostname"]);
    expect(JSON.parse(all.stdout)).toHaveLength(3);
  });

  it("is narrowed by flags and by names, which are looked up", async () => {
    await run(["list", "--where", "siteId = HQ or status = online", "--org", "contoso-dental", "--os-type", "linux"]);
    expect(conditionsSent()).toEqual({
      operator: "AND",
      conditions: [
        { operator: "OR", conditions: [sent("siteId", "equals", ids.hq), sent("status", "equals", "online")] },
        sent("orgId", "equals", ids.contoso),
        sent("osType", "equals", "linux"),
      ],
    });
  });

  it("refuses a name that several have, with their ids and its place", async () => {
    const { code, stderr } = await run(["list", "--where", "status = online and siteId = HQ"]);
    expect(code).toBe(2);
    expect(stderr).toContain(`  status = online and siteId = HQ\n${" ".repeat(31)}^^\n`);
    for (const id of [ids.hq, ids.otherHq]) expect(stderr).toContain(id);
    expect(queries()).toEqual([]);
  });

  it("shows what the server finds wrong where it stands in the expression", async () => {
    refused = {
      status: 400,
      body: {
        error: "Invalid filter",
        code: "FILTER_TYPE_MISMATCH",
        details: {
          errors: [{ path: "conditions[1]", message: "rack_unit is a number", code: "FILTER_TYPE_MISMATCH" }],
        },
      },
    };
    const { code, stderr } = await run(["list", "--where", "status = online and custom.rack_unit = many"]);
    expect(code).toBe(2);
    expect(stderr).toContain(
      `rack_unit is a number\n  status = online and custom.rack_unit = many\n${" ".repeat(41)}^^^^\n`,
    );
  });

  it("is what conditions as JSON are to the command of the endpoint", async () => {
    await run(["query", "--where", where]);
    await run(["query", "--conditions", JSON.stringify({ operator: "AND", conditions: asWritten })]);
    expect(queries()[0]?.body).toEqual(queries()[1]?.body);
    const both = await run(["query", "--where", where, "--conditions", "{}"]);
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("either --where or --conditions")]);
  });

  it("warns of a custom field that nobody has defined, which other organizations may have", async () => {
    const { code, stderr } = await run(["list", "--where", "custom.ownr = Ana or custom.owner = Ana"]);
    const warning =
      "Warning: --where: there is no custom field ownr (did you mean owner?); `rmm custom-fields list` shows those that there are";
    expect([code, stderr]).toEqual([0, `${warning}\n`]);
  });

  it("points at the name of such a field where the value would need its definition", async () => {
    for (const condition of ["custom.foo = 3", "custom.foo > 3", "custom.foo between 1 and 3"]) {
      const { code, stderr } = await run(["list", "--where", `status = online and ${condition}`]);
      expect(code, condition).toBe(2);
      expect(stderr).toMatch(/^rmm: --where: there is no custom field foo\n/);
      expect(stderr).toContain(`${condition}\n${" ".repeat(22)}${"^".repeat(10)}\n`);
      expect(stderr).toContain("rmm custom-fields list");
      expect(stderr).not.toMatch(/Warning|must be a text/);
    }
    expect(queries()).toEqual([]);
  });

  it("takes a saved filter by its name, narrowed by flags", async () => {
    const { code } = await run(["list", "--filter", "Web servers", "--os-type", "linux"]);
    expect(code).toBe(0);
    expect(conditionsSent()).toEqual({
      operator: "AND",
      conditions: [sent("tags", "hasAny", ["web"]), sent("osType", "equals", "linux")],
    });
    stub.seen.length = 0;
    const unknown = await run(["list", "--filter", "Web server"]);
    expect([unknown.code, queries()]).toEqual([3, []]);
    const both = await run(["list", "--filter", "Web servers", "--where", where]);
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("either --where or --filter")]);
  });

  it("refuses flags that an expression says itself", async () => {
    const { code, stderr } = await run(["list", "--where", where, "--sort", "lastSeen"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--sort does not go with --where")]);
  });
});

describe("a change of every device that matches", () => {
  it("tells of how many and which, and changes each by its id, as it was found", async () => {
    const ran = await run(["update", "--where", where, "--device-role", "iot", "--json"]);
    expect(ran.code).toBe(0);
    expect(ran.stderr).toContain("3 devices (pc-1, pc-2, pc-3) of Contoso Dental");
    expect(changes().map(({ path, body }) => [path.split("/").at(-1), body])).toEqual(
      [1, 2, 3].map((at) => [idOf(at), { deviceRole: "iot" }]),
    );
    expect(JSON.parse(ran.stdout)[0]).toMatchObject({ outcome: "done", item: { name: "Contoso Dental/pc-1" } });
  });

  it("asks for the number before something is lost, and changes nothing without it", async () => {
    for (const verb of [["decommission"], ["move", "--org", "fabrikam", "--site", "HQ"]]) {
      stub.seen.length = 0;
      const [name = "", ...more] = verb;
      const ran = await run([name, "--where", where, "--yes", ...more]);
      expect([ran.code, ran.stderr], name).toEqual([2, expect.stringContaining("Missing: --confirm=3")]);
      expect(ran.stderr).toContain("3 devices (pc-1, pc-2, pc-3)");
      const wrong = await run([name, "--where", where, "--confirm=2", ...more]);
      expect([wrong.code, changes()], name).toEqual([2, []]);
      const right = await run([name, "--where", where, "--confirm=3", ...more]);
      expect([right.code, changes().length], name).toEqual([0, 3]);
    }
  });

  it("moves to the place that the flags name, which does not choose devices", async () => {
    const ran = await run(["move", "--where", where, "--org", "fabrikam", "--site", ids.otherHq, "--confirm=3"]);
    expect(ran.stderr).toContain(`3 devices (pc-1, pc-2, pc-3) of Contoso Dental to Twins, ${ids.otherHq} at `);
    expect(conditionsSent()).toEqual({ operator: "AND", conditions: asWritten });
    expect(changes().map(({ body }) => body)).toEqual(
      [1, 2, 3].map(() => ({ orgId: ids.fabrikam, siteId: ids.otherHq })),
    );
  });

  it("acts on those that were shown, whatever matches when the answer comes", async () => {
    const asked: string[] = [];
    changing = true;
    const ran = await run(["decommission", "--where", where], { tty: true, answers: ["3"], asked });
    expect(ran.code).toBe(0);
    expect(asked[0]).toContain("3 entries");
    expect(queries()).toHaveLength(2);
    expect(changes().map(({ path }) => path.split("/").at(-1))).toEqual([1, 2, 3].map(idOf));
  });

  it("does nothing where nothing matches", async () => {
    devices = [];
    const ran = await run(["decommission", "--where", where]);
    expect([ran.code, changes(), ran.stderr]).toEqual([0, [], expect.stringContaining("No device matches")]);
  });

  it("takes devices by name or by expression, never both", async () => {
    for (const argv of [
      ["update", "pc-1", "--where", where, "--device-role", "iot"],
      ["run", "lock", "pc-1", "--where", where],
      ["set", "pc-1", "--where", where, "--field", "owner=Ana"],
    ]) {
      const ran = await run(argv);
      expect([ran.code, queries()], argv[0]).toEqual([2, []]);
    }
  });
});

describe("commands of many devices", () => {
  it("run queues for what matches, and of what disturbs asks for the number", async () => {
    const plain = await run(["run", "refresh_inventory", "--where", where, "--ndjson"]);
    expect([plain.code, plain.stdout.trim().split("\n").length]).toEqual([0, 3]);
    stub.seen.length = 0;
    const yes = await run(["run", "reboot", "--where", where, "--yes"]);
    expect([yes.code, yes.stderr, changes()]).toEqual([2, expect.stringContaining("--confirm=3"), []]);
    const counted = await run(["run", "reboot", "--where", where, "--confirm=3"]);
    expect([counted.code, changes().length]).toEqual([0, 1]);
  });

  it("run goes on with those that were chosen at first, whatever matches by then", async () => {
    const direct = nodeTransport();
    const transport: Transport = async (request) => {
      if (request.url.includes("/bulk/commands")) throw new Error("The line was cut");
      return direct(request);
    };
    changing = true;
    const cut = await run(["run", "refresh_inventory", "--where", where], { transport });
    expect(cut.code, cut.stderr).toBe(13);
    const [, again = ""] = /`rmm devices (run .*)`/.exec(cut.stderr.replaceAll(/\s+/g, " ")) ?? [];
    const [, key = ""] = /--idempotency-key (\S+)/.exec(again) ?? [];
    stub.seen.length = 0;
    const resumed = await run(["run", "refresh_inventory", "--where", where, "--idempotency-key", key]);
    expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringContaining("the 3 devices chosen at first")]);
    expect(queries()).toEqual([]);
    expect(changes().map(({ body, headers }) => [body, headers["x-idempotency-key"]])).toEqual([
      [{ deviceIds: [1, 2, 3].map(idOf), type: "refresh_inventory" }, `${key}-1`],
    ]);
    // Another type is another run.
    stub.seen.length = 0;
    await run(["run", "collect_logs", "--where", where, "--idempotency-key", key]);
    expect(queries().length).toBeGreaterThan(0);
  });

  it("set, export and watch take expressions too", async () => {
    expect((await run(["set", "--where", where, "--field", "owner=Ana"])).code).toBe(0);
    expect(changes()).toHaveLength(3);
    const { stdout } = await run(["export", "--where", where, "--columns", "hostname"]);
    expect(stdout).toBe("hostname\npc-1\npc-2\npc-3\n");
    const stop = new AbortController();
    const watching = run(["watch", "--where", where, "--ndjson"], { signal: stop.signal });
    await expect.poll(() => queries().length).toBeGreaterThan(2);
    stop.abort();
    expect((await watching).code).toBe(130);
    expect(queries().at(-1)?.body).toMatchObject({ conditions: { conditions: asWritten } });
  });
});
