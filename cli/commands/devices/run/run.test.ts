import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { nodeTransport } from "#sdk/node";
import { refusal, type Stub } from "#sdk/stub-server";
import type { Transport } from "#sdk/transport";
import { ids, stubApi, writesOf } from "../../../test-api.ts";
import { type RunOptions, testCommand } from "../../../test-shell.ts";

const command = testCommand();
let stub: Stub;
const idOf = (at: number) => `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`;
const device = (at: number, fields: object = {}) => ({
  ...{ id: idOf(at), orgId: ids.contoso, siteId: ids.hq, hostname: `pc-${at}`, displayName: null, tags: [] },
  ...{ orgName: "Contoso Dental", siteName: "HQ", status: "online", osType: "windows", customFields: {} },
  ...fields,
});
const commandIdOf = (deviceId: string) => deviceId.replace(/^0{8}/, "cccccccc");
const commandOf = (deviceId: string, fields: object = {}) => ({
  ...{ id: commandIdOf(deviceId), deviceId, orgId: ids.contoso, type: "reboot", status: "pending", result: null },
  ...fields,
});
let devices: ReturnType<typeof device>[];
/** What the server says of a command when it is asked the nth time. */
let shown: (deviceId: string, time: number) => object;
let events: (query: URLSearchParams) => { status?: number; body?: unknown };
let queueing: (count: number) => object | undefined;
const asked = new Map<string, number>();

beforeAll(async () => {
  stub = await stubApi({
    "GET /devices": (_seen, query) => {
      const search = query.get("search");
      const found = devices.filter(
        ({ hostname, orgId, status }) =>
          (search === null || hostname === search) &&
          (query.get("orgId") ?? orgId) === orgId &&
          (query.get("status") ?? status) === status,
      );
      return { body: { devices: found, nextCursor: null, limit: 1000 } };
    },
    "POST /devices/bulk/commands": ({ body }) => {
      const { deviceIds } = body as { deviceIds: string[] };
      const fault = queueing(writesOf(stub).length);
      if (fault !== undefined) return fault;
      const refused = deviceIds.filter((id) => id === idOf(13));
      const held = deviceIds.filter((id) => id === idOf(14));
      const commands = deviceIds.filter((id) => ![...refused, ...held].includes(id)).map((id) => commandOf(id));
      const failed = refused.map((deviceId) => ({ deviceId, code: "UNSUPPORTED_OS", message: "Not for this system" }));
      const skipped = held.map((deviceId) => ({ deviceId, code: "ALREADY_PENDING", commandId: commandIdOf(idOf(14)) }));
      return { status: 201, body: { commands, skipped, failed } };
    },
    ...Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [
        `GET /devices/${idOf(at)}/commands/${commandIdOf(idOf(at))}`,
        () => {
          const time = (asked.get(idOf(at)) ?? 0) + 1;
          asked.set(idOf(at), time);
          return { body: commandOf(idOf(at), shown(idOf(at), time)) };
        },
      ]),
    ),
    "GET /webhooks/events": (_seen, query) => events(query),
    [`POST /devices/${idOf(1)}/commands`]: () => ({ status: 201, body: commandOf(idOf(1)) }),
  });
});
beforeEach(() => {
  stub.seen.length = 0;
  asked.clear();
  devices = [1, 2, 3].map((at) => device(at));
  shown = () => ({ status: "completed", result: { status: "completed", exitCode: 0 } });
  queueing = () => undefined;
  events = () => refusal(403, "PERMISSION_DENIED");
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const run = (argv: readonly string[], options: RunOptions = {}) =>
  command.run(["devices", "run", ...argv], { ...options, env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" } });
const rowsOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("rmm devices run", () => {
  it("queues for one device at its own endpoint, with its payload and an idempotency key", async () => {
    writeFileSync(join(command.dir, "payload.json"), '{ "reason": "from a file", "delayMinutes": 1 }');
    const payload = [
      "--payload",
      `@${command.dir}/payload.json`,
      "--payload",
      "delayMinutes=5",
      "--payload",
      "reason=7",
    ];
    const ran = await run(["reboot", "pc-1", ...payload, "--yes", "--json"]);
    expect(ran.code, ran.stderr).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject([
      { outcome: "queued", item: { name: "pc-1" }, result: { id: commandIdOf(idOf(1)) } },
    ]);
    const [sent, ...others] = writesOf(stub);
    expect(others).toEqual([]);
    expect(sent).toMatchObject({ body: { type: "reboot", payload: { reason: "7", delayMinutes: 5 } } });
    expect(sent?.headers["x-idempotency-key"]).toMatch(/^[\w-]{36}$/);
  });

  it("refuses a payload that no device takes before it sends anything", async () => {
    for (const [type, payload, said] of [
      ["update", "foo=bar", "update takes no foo"],
      ["lock", "reason=why", "lock takes no reason"],
      ["reboot", "delayMinutes=soon", "delayMinutes: "],
    ] as const) {
      const ran = await run([type, "--all", "--payload", payload, "--confirm=3"]);
      expect(ran).toMatchObject({ code: 2, stdout: "" });
      expect(ran.stderr).toContain(said);
    }
    expect(stub.seen).toEqual([]);
  });

  it("ends as one refusal does where all are refused for one reason", async () => {
    for (const [status, code, exit] of [
      [409, "INVALID_STATE", 6],
      [403, "PERMISSION_DENIED", 5],
      [400, "VALIDATION_ERROR", 1],
    ] as const) {
      queueing = () => refusal(status, code);
      expect((await run(["lock", "--all", "--confirm=3"])).code).toBe(exit);
    }
  });

  it("queues for many in pages of 500, names what was refused with its code, and exits 9", async () => {
    devices = Array.from({ length: 1001 }, (_, at) => device(at));
    shown = () => ({});
    const ran = await run(["reboot", "--org", "contoso-dental", "--yes", "--ndjson"]);
    expect(ran.code, ran.stderr).toBe(9);
    const rows = rowsOf(ran.stdout);
    expect(rows).toHaveLength(1001);
    expect(rows[13]).toMatchObject({
      outcome: "failed",
      error: { code: "UNSUPPORTED_OS" },
      key: "Contoso Dental/pc-13",
    });
    expect(rows[14]).toMatchObject({ outcome: "exists", error: { code: "ALREADY_PENDING" } });
    expect(ran.stderr).toContain("999 queued, 1 there already, 1 failed");
    const pages = writesOf(stub).map(({ body }) => (body as { deviceIds: string[] }).deviceIds);
    expect(pages.map(({ length }) => length)).toEqual([500, 500, 1]);
    expect(new Set(pages.flat()).size).toBe(1001);
    expect(new Set(writesOf(stub).map(({ headers }) => headers["x-idempotency-key"])).size).toBe(3);
  });

  it("asks before what takes a machine away, naming server, profile, customer and devices; a no queues nothing", async () => {
    const questions: string[] = [];
    const ran = await run(["shutdown", "--site", "HQ", "--org", "contoso-dental"], {
      tty: true,
      answers: ["no"],
      asked: questions,
    });
    expect(ran.code).toBe(2);
    expect(questions).toEqual([
      `shutdown: 3 devices (pc-1, pc-2, pc-3) of Contoso Dental at ${stub.url} (profile default)?`,
    ]);
    const unattended = await run(["shutdown", "pc-1"]);
    expect([unattended.code, unattended.stderr]).toEqual([2, expect.stringContaining("Missing: --yes")]);
    const all = await run(["shutdown", "--all", "--yes"]);
    expect([all.code, all.stderr]).toEqual([2, expect.stringContaining("--confirm=3")]);
    expect(writesOf(stub)).toEqual([]);
  });

  it("chooses by tag and status, leaves out what takes no commands, and never all devices unasked", async () => {
    devices = [device(1, { tags: ["kiosk"] }), device(2), device(3, { tags: ["kiosk"], status: "quarantined" })];
    const ran = await run(["refresh_inventory", "--tag", "kiosk", "--json"]);
    expect(JSON.parse(ran.stdout)).toHaveLength(1);
    expect(ran.stderr).toContain("1 left out");
    const none = await run(["refresh_inventory"]);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("--all for all of them")]);
    const typo = await run(["refresh_inventry", "pc-1"]);
    expect([typo.code, typo.stderr]).toEqual([2, expect.stringContaining("did you mean refresh_inventory")]);
    const unknown = await run(["refresh_inventory", "pc-1", "pc-77"]);
    expect(unknown.code).toBe(3);
    expect(writesOf(stub)).toHaveLength(1);
  });

  it("--wait follows each to its end and prints it then; failures are told with what the device said", async () => {
    shown = (id, time) =>
      time === 1
        ? { status: "sent" }
        : id === idOf(2)
          ? { status: "failed", result: { status: "failed", exitCode: 5, error: "Access is denied" } }
          : { status: "completed", result: { status: "completed", exitCode: 0 } };
    const ran = await run(["refresh_inventory", "--org", "contoso-dental", "--wait", "--ndjson"]);
    expect(ran.code, ran.stderr).toBe(9);
    const rows = rowsOf(ran.stdout);
    expect(rows.map(({ item, outcome }) => `${item.name} ${outcome}`).toSorted()).toEqual([
      "pc-1 done",
      "pc-2 failed",
      "pc-3 done",
    ]);
    expect(rows.find(({ outcome }) => outcome === "failed").error).toMatchObject({
      code: "COMMAND_FAILED",
      message: "Access is denied",
    });
    expect([...asked.values()]).toEqual([2, 2, 2]);
  });

  it("when --timeout is over it exits 8 and says how to go on without queueing twice", async () => {
    shown = () => ({ status: "sent" });
    const ran = await run(["refresh_inventory", "pc-1", "--wait", "--timeout", "500ms"]);
    expect(ran.code, ran.stderr).toBe(8);
    const [, again = ""] = /nothing queued twice: `(.*?)`/s.exec(ran.stderr.replaceAll(/\s+/g, " ")) ?? [];
    const key = writesOf(stub)[0]?.headers["x-idempotency-key"];
    expect(again).toBe(`rmm devices run refresh_inventory pc-1 --wait --timeout 500ms --idempotency-key ${key}`);
    expect(ran.stdout).toContain("open");
  });

  it("after Ctrl-C it says which are over and which go on, and ends with 130", async () => {
    const stop = new AbortController();
    shown = (id) => {
      if (id !== idOf(2)) return { status: "completed", result: { status: "completed" } };
      setTimeout(() => stop.abort(), 300);
      return { status: "sent" };
    };
    const ran = await run(["refresh_inventory", "pc-1", "pc-2", "--wait"], { tty: true, signal: stop.signal });
    expect(ran.code, ran.stderr).toBe(130);
    expect(ran.stdout).toMatch(/pc-1 +done[\s\S]*pc-2 +open/);
    expect(ran.stderr).toContain("Interrupted. What was queued goes on");
    expect(ran.stderr.replaceAll(/\s+/g, " ")).toContain(`rmm commands show ${idOf(2)} ${commandIdOf(idOf(2))}`);
  });

  it("an outcome that is unknown is asked for again under the same key; what it cannot find out it says", async () => {
    devices = Array.from({ length: 501 }, (_, at) => device(at));
    const direct = nodeTransport();
    const keys: (string | undefined)[] = [];
    const transport: Transport = async (request) => {
      const answer = await direct(request);
      if (request.method !== "POST") return answer;
      keys.push(request.headers["x-idempotency-key"]);
      throw new Error("The line was cut");
    };
    const ran = await run(["refresh_inventory", "--org", "contoso-dental", "--json"], { transport });
    expect(ran.code, ran.stderr).toBe(13);
    expect(keys.length).toBeGreaterThan(1);
    expect(new Set(keys).size).toBe(1);
    expect(ran.stderr).toContain(`--idempotency-key ${String(keys[0]).replace(/-1$/, "")}`);
    expect(JSON.parse(ran.stdout).filter(({ outcome }: { outcome: string }) => outcome === "skipped")).toHaveLength(1);
  });

  it.each([
    ["waits for the events of the customer where it may", true],
    ["asks for each where it may not", false],
  ])("with many devices it %s", async (_, may) => {
    devices = Array.from({ length: 6 }, (_one, at) => device(at));
    const refused = refusal(403, "PERMISSION_DENIED");
    const cursors: (string | null)[] = [];
    events = (query) => {
      cursors.push(query.get("cursor"));
      if (!may) return refused;
      const data = { commandId: commandIdOf(idOf(5)), deviceId: idOf(5), status: "completed", commandType: "reboot" };
      return {
        body: {
          data: query.has("cursor") ? [{ id: "e", type: "device.command.completed", data }] : [],
          cursor: "c",
          missed: false,
        },
      };
    };
    // Only the events can tell so early of the one that is asked for last.
    const order: string[] = [];
    shown = (id, time) => {
      order.push(id);
      return id === idOf(5) || time > 1 ? { status: "completed", result: { status: "completed" } } : { status: "sent" };
    };
    const ran = await run(["refresh_inventory", "--org", "contoso-dental", "--wait", "--json"]);
    expect([ran.code, JSON.parse(ran.stdout).length], ran.stderr).toEqual([0, 6]);
    expect(cursors.filter((one) => one === null)).toHaveLength(may ? 2 : 1);
    if (may) expect(order.indexOf(idOf(5))).toBeLessThan(5);
    else expect(order.indexOf(idOf(5))).toBe(5);
  });

  it("waits where the server asks to", async () => {
    queueing = (count) => (count === 1 ? refusal(429, "RATE_LIMITED", {}, { "retry-after": "0" }) : undefined);
    const ran = await run(["refresh_inventory", "--org", "contoso-dental", "--json"]);
    expect([ran.code, writesOf(stub).length]).toEqual([0, 2]);
  });

  it("--dry-run prints the requests, and sends none", async () => {
    const ran = await run(["reboot", "--org", "contoso-dental", "--dry-run", "--json"]);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      method: "POST",
      body: { type: "reboot", deviceIds: devices.map(({ id }) => id) },
    });
    expect(writesOf(stub)).toEqual([]);
  });

  it.each([80, 60])("fits a terminal of %i columns", async (columns) => {
    const ran = await run(["refresh_inventory", "pc-1", "pc-2", "--wait"], { tty: true, columns });
    expect(ran.code, ran.stderr).toBe(0);
    for (const line of stripVTControlCharacters(ran.stdout).split("\n"))
      expect(line.length, line).toBeLessThanOrEqual(columns);
  });
});
