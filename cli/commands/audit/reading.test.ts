import stringWidth from "string-width";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Stub } from "#sdk/stub-server";
import { paged, stubApi } from "../../test-api.ts";
import { testCommand } from "../../test-shell.ts";

const command = testCommand();
let stub: Stub;
const entry = (id: string, at: string, email: string | null, action: string, type: string, name: string | null) => ({
  ...{ id: `0195f0a0-0000-7000-8000-00000000000${id}`, timestamp: at, action, result: "success" },
  user: { id: "u", name: email ?? "API Key nightly import", email, role: "user" },
  ...{ resource: { type, id: "r", name }, category: "device", ipAddress: null, userAgent: null, details: {} },
});
const rows = [
  entry("4", "2026-03-02T09:00:04.000Z", null, "agent.command.result.submit", "device", "RECEPTION-PC-0001"),
  entry("3", "2026-03-02T09:00:03.000Z", "jordan.smith@summit-msp.example", "partner_api.export", "partner_api", null),
  entry("2", "2026-03-02T09:00:02.000Z", "ana@summit-msp.example", "site.update", "site", "Denver 漢字"),
  entry("1", "2026-03-01T23:59:59.125Z", "ana@summit-msp.example", "user.login", "user", "Ana\u001b[2J"),
];
beforeAll(async () => {
  stub = await stubApi({ "GET /audit-logs/logs": (_seen, query) => paged(rows, query) });
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const run = (argv: readonly string[], columns: number) =>
  command.run(["audit", ...argv], {
    ...{ tty: true, columns },
    env: { RMM_SERVER: stub.url, RMM_TOKEN: "token", NO_COLOR: "1" },
  });

const linesOf = (stdout: string) => stdout.trimEnd().split("\n");
const placeOf = (lines: readonly string[], text: string) => lines.find((line) => line.includes(text))!.indexOf(text);

it.each([60, 80, 120])("rmm audit tail has a line for each entry, in columns, on a terminal of %i", async (columns) => {
  const { code, stdout } = await run(["tail"], columns);
  const lines = linesOf(stdout);
  expect([code, lines.length]).toEqual([0, rows.length + 2]);
  for (const line of lines) expect(stringWidth(line), line).toBeLessThanOrEqual(columns);
  const entries = lines.filter((line) => !line.endsWith(" UTC"));
  expect(new Set(entries.map((line) => line.indexOf("success")))).toHaveProperty("size", 1);
  expect(entries.map((line) => line.slice(0, 8))).toEqual(["23:59:59", "09:00:02", "09:00:03", "09:00:04"]);
});

it("rmm audit tail at 80 columns says when, who, what, with which result and to what", async () => {
  const { stdout, stderr } = await run(["tail"], 80);
  expect(linesOf(stdout)).toEqual([
    "2026-03-01 UTC",
    "23:59:59  ana@summit-msp.exam…  user.login            success  Ana\\u001b[2J",
    "2026-03-02 UTC",
    "09:00:02  ana@summit-msp.exam…  site.update           success  Denver 漢字",
    "09:00:03  jordan.smith@summit…  partner_api.export    success  partner_api",
    "09:00:04  API Key nightly imp…  agent.command.resul…  success  RECEPTION-PC-0001",
  ]);
  expect(stderr).toContain("--wide shows them whole");
});

it("rmm audit list at 80 columns has who, what, with which result and to what too", async () => {
  const { stdout } = await run(["list"], 80);
  for (const line of linesOf(stdout)) expect(stringWidth(line), line).toBeLessThanOrEqual(80);
  expect(linesOf(stdout)[0]).toMatch(/^TIMESTAMP +ACTION +RESULT +USER +NAME$/);
});

it("rmm audit tail --wide shows everything whole, with the id", async () => {
  const { stdout, stderr } = await run(["tail", "--wide"], 60);
  const lines = linesOf(stdout);
  expect(lines).toHaveLength(rows.length + 2);
  for (const { id, action, user, resource } of rows)
    for (const text of [id, action, user.name, resource.type]) expect(stdout).toContain(text);
  expect(placeOf(lines, rows[0]!.id)).toBe(placeOf(lines, rows[1]!.id));
  expect(stderr).not.toContain("No room");
});

it("gives a pipe the whole time of each entry and no days", async () => {
  const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token" };
  const { stdout } = await command.run(["audit", "tail", "-n", "2"], { env });
  expect(linesOf(stdout).map((line) => line.split("\t")[0])).toEqual([rows[1]!.timestamp, rows[0]!.timestamp]);
});
