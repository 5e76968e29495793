import { expect, it } from "vitest";
import { recordText } from "./record.ts";

const NOW = Date.parse("2026-03-02T09:00:00.000Z");
const options = { header: true, coloured: false, nowMs: NOW, width: 80 };
const shown = (record: Record<string, unknown>, more: object = {}) =>
  recordText(record, { ...options, columns: Object.keys(record), ...more });

const request = {
  id: "r-1",
  events: [
    { event: "requested", at: "2026-03-02T08:00:00.123Z", actorName: null, details: {} },
    {
      event: "denied",
      at: "2026-03-02T08:00:04.000Z",
      actorName: "Ana\u001b[2J",
      details: { reason: "no", n: [1, 2] },
    },
  ],
  reason: null,
  status: "denied",
};

it("shows a list of objects as a table of its own, below what else there is", () => {
  expect(shown(request).text).toBe(
    [
      "ID       r-1",
      "STATUS   denied",
      "NOT SET  reason",
      "EVENTS",
      "  EVENT      AT                    ACTOR NAME    DETAILS",
      "  requested  2026-03-02T08:00:00Z",
      "  denied     2026-03-02T08:00:04Z  Ana\\u001b[2J  reason: no, n: 1,2",
      "",
    ].join("\n"),
  );
  expect(shown({ data: request }, { header: false }).text).toContain("DATA EVENTS\n  requested  2026");
  expect(shown(request, { columns: ["events"], fit: "named" }).text).toMatch(/^EVENTS\n {2}EVENT /);
});

it("fits the terminal, and says of what it shows less", () => {
  const rows = [
    {
      id: "f".repeat(36),
      name: "a".repeat(30),
      path: "b".repeat(300),
      note: "c".repeat(50),
      siteId: "d".repeat(36),
      last: "e",
    },
  ];
  const { text, lack } = shown({ rows });
  for (const line of text.split("\n")) expect(line.length, text).toBeLessThanOrEqual(80);
  expect(text).toMatch(/^ROWS\n {2}NAME +/);
  expect(lack).toMatch(/^No room for all of rows\.id, rows\.siteId.*: --json shows everything$/);
  expect(shown(request).lack).toBeUndefined();
});

it("leaves what is no list of objects on its line, and takes any names", () => {
  expect(shown({ a: [], b: [{}], c: [1, { d: 2 }], e: ["x", "y"] }).text).toBe(
    'B        [{}]\nC        [1,{"d":2}]\nE        x,y\nNOT SET  a\n',
  );
  expect(shown({ a: [{ constructor: "x", __proto__: "y", "b.c": 1 }] }).text).toBe(
    "A\n  CONSTRUCTOR  B C\n  x            1\n",
  );
});

it("counts fields without a value that fit no line", () => {
  const names = Array.from({ length: 20 }, (_, at) => `field${at}`);
  const record = Object.fromEntries(names.map((name) => [name, null]));
  expect(shown(record).text).toBe("NOT SET  20 fields: --json shows them\n");
  expect(shown(record, { width: 400 }).text).toBe(`NOT SET  ${names.join(", ")}\n`);
});
