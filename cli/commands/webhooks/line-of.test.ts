import { expect, it } from "vitest";
import type { Globals } from "../../globals.ts";
import { specs } from "../../test-commands.ts";
import { attempt, inSeconds, type LineColumn, lineColumnsOf, lineOf, milliseconds } from "./line-of.ts";

const row = {
  at: "2026-03-02T09:00:00.125Z",
  event: "site.created",
  status: "retrying",
  responseStatus: null,
  responseTimeMs: 13,
  attempt: 1,
  errorMessage: "Nothing listens there\u001b[2J (ECONNREFUSED)",
  eventId: "e1",
};
const columns: LineColumn[] = [
  { name: "at", say: inSeconds },
  { name: "event" },
  { name: "status" },
  { name: "responseStatus" },
  { name: "responseTimeMs", say: milliseconds },
  { name: "attempt", say: attempt },
  { name: "errorMessage" },
  { name: "eventId", isId: true },
];
const line = (stdout: boolean, globals: Partial<Globals> = {}) => {
  const shell = { isTty: { stdin: false, stdout, stderr: false }, columns: 80 };
  const settings = { output: { value: "auto" } };
  return lineOf({ globals, shell, settings } as never, row, columns);
};

it("tells a person what its numbers are, without ids and empty cells, in lines that fit the terminal", () => {
  const lines = line(true).split("\n");
  expect(lines[0]).toMatch(/^2026-03-02T09:00:00Z {2}site\.created {2}retrying {2}13 ms {2}attempt 1 {2}Nothing/);
  expect(lines.map(({ length }) => length <= 80)).toEqual([true, true]);
  expect(lines.join(" ")).toContain("(ECONNREFUSED)");
  expect(lines.join()).not.toMatch(/e1|\u001b/);
});

it("shows the columns that were asked for, and ids with --wide", () => {
  expect(line(true, { columns: ["eventId", "event"] })).toBe("e1  site.created");
  expect(line(true, { wide: true })).toMatch(/e1$/);
});

it("gives a pipe every column whole, in its place", () => {
  expect(line(false).split("\t")).toHaveLength(8);
  expect(line(false)).toMatch(/^2026-03-02T09:00:00\.125Z\tsite\.created\tretrying\t\t13\t1\t/);
});

it("knows the ids and the times of a list from the contract, whatever they are called", async () => {
  const spec = (await specs()).find(({ noun, name }) => `${noun} ${name}` === "webhooks deliveries")!;
  const known = lineColumnsOf(spec, { attempts: attempt });
  expect(known.filter(({ isId }) => isId).map(({ name }) => name)).toEqual(["id"]);
  expect(known.filter(({ say }) => say === inSeconds).map(({ name }) => name)).toEqual(["createdAt", "nextAttemptAt"]);
  const renamed = lineColumnsOf({ ...spec, columns: ["moment", "whose"], ids: ["whose"], times: ["moment"] }, {});
  expect(renamed).toEqual([
    { name: "moment", isId: false, say: inSeconds },
    { name: "whose", isId: true, say: undefined },
  ]);
});
