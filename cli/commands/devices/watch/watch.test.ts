import { stripVTControlCharacters } from "node:util";
import { expect, it } from "vitest";
import { ConnectionError } from "#sdk/errors";
import { stubApi } from "../../../test-api.ts";
import { NOW, testCommand } from "../../../test-shell.ts";
import type { Chosen } from "../chosen.ts";
import { type Change, rounds } from "./changes.ts";

const device = (id: string, fields: Partial<Chosen> = {}) =>
  ({ id, hostname: `pc-${id}`, orgName: "Contoso", status: "online", lastSeenAt: "t1", ...fields }) as Chosen;

/** Looks at these one after the other, then stops. */
async function watched(looks: (readonly Chosen[] | Error)[], seen = false) {
  const stop = new AbortController();
  const told: (readonly Change[] | undefined)[] = [];
  const away: string[] = [];
  const left = [...looks];
  const read = async () => {
    const look = left.shift();
    if (left.length === 0) stop.abort();
    if (look instanceof Error) throw look;
    return look ?? [];
  };
  const asked = { read, signal: stop.signal, pauseMs: 1, now: () => NOW, seen };
  for await (const { changes } of rounds({ ...asked, away: async (message) => void away.push(message) }))
    told.push(changes);
  return { told, away };
}

const lost = () =>
  new ConnectionError("The server is away", {
    code: "CONNECTION_FAILED",
    outcome: "not_sent",
    operation: "devices.list",
  });

it("tells what changed, what came and what went; that a device was heard of only with --seen", async () => {
  const before = [device("1"), device("2"), device("3")];
  const after = [
    device("1", { status: "offline" }),
    device("2", { lastSeenAt: "t2" }),
    device("4", { status: "pending" }),
  ];
  const { told } = await watched([before, after, after]);
  const at = "2026-03-02T09:00:00.000Z";
  const about = (id: string) => ({ at, hostname: `pc-${id}`, orgName: "Contoso", deviceId: id });
  expect(told).toEqual([
    undefined,
    [
      { ...about("1"), change: "status", before: "online", after: "offline" },
      { ...about("4"), change: "added", before: null, after: "pending" },
      { ...about("3"), change: "gone", before: "online", after: null },
    ],
    [],
  ]);
  const seen = await watched([before, after], true);
  expect(seen.told[1]?.map(({ change }) => change)).toContain("lastSeenAt");
});

it("tells how many commands each device has not collected", async () => {
  const looks = [[device("1", { pendingCommandCount: 0 })], [device("1", { pendingCommandCount: 2 })]];
  const { told } = await watched([...looks, [device("1", { pendingCommandCount: 2 })]]);
  expect(told[1]).toMatchObject([{ change: "pendingCommandCount", before: 0, after: 2, deviceId: "1" }]);
  expect(told[2]).toEqual([]);
});

it("waits for a server that is away, says so once, and compares with what was before", async () => {
  const { told, away } = await watched([[device("1")], lost(), lost(), [device("1", { status: "offline" })]]);
  expect(away).toEqual(["The server is away"]);
  expect(told[1]).toMatchObject([{ change: "status", after: "offline" }]);
  await expect(watched([lost(), []])).rejects.toThrow("The server is away");
});

it("rmm devices watch shows the devices at a terminal, nothing in a pipe, and ends with 130", async () => {
  const command = testCommand();
  const asked: URLSearchParams[] = [];
  const looked = async (argv: readonly string[], tty: boolean) => {
    const stop = new AbortController();
    const stub = await stubApi({
      "GET /devices": (_seen, query) => {
        asked.push(query);
        setTimeout(() => stop.abort(), 100);
        return { body: { devices: [device("1", { pendingCommandCount: 3 })], nextCursor: null, limit: 1000 } };
      },
    });
    const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" };
    const ran = await command.run(["devices", "watch", ...argv], { env, tty, signal: stop.signal });
    await stub.close();
    return ran;
  };
  const shown = await looked([], true);
  expect([shown.code, shown.stdout]).toEqual([130, expect.stringContaining("pc-1")]);
  const table = stripVTControlCharacters(shown.stdout);
  expect(table).toMatch(/HOSTNAME +STATUS +PENDING/);
  expect(table).toMatch(/pc-1 +online +3\b/);
  for (const line of table.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  expect(asked.every((query) => query.get("includePending") === "true")).toBe(true);
  expect(await looked(["--ndjson"], false)).toMatchObject({ code: 130, stdout: "" });
  const often = await command.run(["devices", "watch", "--interval", "1s"]);
  expect([often.code, often.stderr]).toEqual([2, expect.stringContaining("5s or longer")]);
  command.close();
});
