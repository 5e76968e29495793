import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { importCustomers } from "../provisioning/import/import-customers.ts";
import { targetNames } from "../provisioning/import/targets.ts";
import { testCommand } from "../test-shell.ts";

const command = testCommand();
afterAll(() => command.close());

const read = (text: string, more = {}) =>
  importCustomers(Buffer.from(text), { map: [], mapValue: [], guess: true, name: "c.csv", ...more });
const start = (cell: string, more = {}) =>
  read(`Company,Contract Start\nA,"${cell}"\n`, more).file.organizations[0]?.["contractStart"];

/** What a spreadsheet leaves where it could not keep or show a value. */
const impossible = ["4.93512E+11", "4,93512E+11", "1E+05", "#REF!", "#N/A", "#VALUE!", "#DIV/0!", "#NAME?", "######"];

describe("what spreadsheets leave behind", () => {
  it("is refused in every column of an import, with line, column and cell, and nothing of the row is taken (C68)", () => {
    for (const target of targetNames)
      for (const cell of impossible) {
        const map = ["organization.name=Who", ...(target === "organization.name" ? [] : [`${target}=What`])];
        const what = target === "organization.name" ? [cell, "x"] : ["A", cell];
        const { refused, file } = read(`Who,What\n"${what[0]}","${what[1]}"\nB,\n`, { map, guess: false });
        const column = target === "organization.name" ? '(column 1 "Who")' : '(column 2 "What")';
        expect(
          refused.map(({ line }) => line),
          `${target} ${cell}`,
        ).toEqual([2]);
        expect(refused[0]!.reason).toContain(`${target}: "${cell}"`);
        expect(refused[0]!.reason).toContain(column);
        expect(file.organizations.map(({ slug }) => slug)).toEqual(["b"]);
      }
  });

  it.each(["493512345678.0", "2026-01-31 00:00:00", "4.9E10"])("%s is no telephone and no post code (C68)", (cell) => {
    for (const column of ["Phone", "Mobile", "Zip", "Billing Phone", "Site Phone"]) {
      const { refused } = read(`Company,Contact,${column}\nA,Ann,${cell}\n`);
      expect(
        refused.map(({ reason }) => reason.includes(`column 3 "${column}"`)),
        column,
      ).toEqual([true]);
    }
  });

  it.each([
    ["2026-01-31 00:00:00.000", "2026-01-31"],
    ["2026-01-31T00:00", "2026-01-31"],
    ["1/31/2026 12:00:00 AM", "2026-01-31"],
    ["31/1/2026 0:00", "2026-01-31"],
    ["31.01.2026 00:00:00", "2026-01-31"],
  ])("%s is the day it means (C68)", (cell, day) => {
    expect(start(cell)).toBe(day);
  });

  it.each(["46053", "46053.5", "1/2/2026 12:00:00 AM", "2026-01-31 09:30:00", "2026-02-30 00:00:00", "13/13/2026"])(
    "%s is no certain day and is refused (C68)",
    (cell) => {
      const { refused, file } = read(`Company,Contract Start\nA,"${cell}"\n`);
      expect(refused).toEqual([{ line: 2, reason: expect.stringContaining(`"${cell}"`) }]);
      expect(file.organizations).toEqual([]);
    },
  );

  it.each(["Total", "Grand Total", "TOTALS:", "Summe", "Total (2)", "Gesamtsumme"])(
    "a row of sums called %s is no customer (C68)",
    (word) => {
      const text = `Company,Max Devices,City\nA,3,Rome\nB,4,Oslo\n${word},7,\n`;
      const { refused, file } = read(text);
      expect(refused).toEqual([{ line: 4, reason: expect.stringContaining("row of sums") }]);
      expect(file.organizations.map(({ slug }) => slug)).toEqual(["a", "b"]);
    },
  );

  it("a customer called Total stays one where it has more than numbers, or is said to be one (C68)", () => {
    expect(read("Company,City\nTotal,Paris\n").file.organizations).toHaveLength(1);
    expect(read("Company,Max Devices\nTotal,7\n", { mapValue: ["organization.name:Total=Total SE"] }).refused).toEqual(
      [],
    );
  });

  it("headings that are merged over two lines, or stand again below, are no customers (C68)", () => {
    expect(() => read("Company,,Contact,Mail\nName,City,First Name,Email\nA,Rome,Ann,a@x.example\n")).toThrow(
      /^c\.csv:2: a second line of headings: City, First Name, Email/,
    );
    const { refused, file } = read("Company,City\nA,Rome\nCompany,City\nB,Oslo\n");
    expect(refused).toEqual([{ line: 3, reason: "repeats the headings" }]);
    expect(file.organizations).toHaveLength(2);
  });

  it("refuses an entry of a list, with file, line, column and cell, and every entry of a table that is broken (C68)", async () => {
    const org = "11111111-1111-4111-8111-111111111111";
    const path = join(command.dir, "people.csv");
    const sent: string[] = [];
    const run = async (text: string) => {
      sent.length = 0;
      writeFileSync(path, text);
      return command.run(["contacts", "create", org, "-f", path, "--json"], {
        env: { RMM_SERVER: "http://127.0.0.1:9", RMM_TOKEN: "t" },
        transport: async ({ body }) => {
          sent.push(String(body));
          return new Response('{"id":"made"}', { status: 201, headers: { "content-type": "application/json" } });
        },
      });
    };
    for (const cell of impossible) {
      const { code, stdout } = await run(`sep=;\nname;phone\nAnn;+49 1\nBob;"${cell}"\n`);
      const [ann, bob] = JSON.parse(stdout);
      expect([code, ann.outcome, bob.outcome], cell).toEqual([9, "done", "failed"]);
      expect(bob.error.message).toContain(`people.csv:4, column 2 (phone): "${cell}"`);
      expect(sent.map((body) => JSON.parse(body).name)).toEqual(["Ann"]);
    }
    for (const [text, message] of [
      ["name,phone\nAnn,1,2\n", "people.csv:2: has 3 columns, the header has 2"],
      ["name,phone,name\nAnn,1,Bob\n", "two columns are named name"],
      ["name,,phone\nAnn,x,1\n", "column 2 has no name"],
    ] as const) {
      const { code, stderr } = await run(text);
      expect([code, sent], text).toEqual([2, []]);
      expect(stderr).toContain(message);
    }
  });
});
