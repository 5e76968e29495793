import { expect, it } from "vitest";
import { ReportedLogs, ReportedPage, ReportedRecord } from "./reported.ts";

it("a record has a number; whatever else is odd reads as unknown, and secrets are masked", () => {
  const read = ReportedRecord.parse({
    recordId: 7,
    timestamp: "2026-01-01T08:00:00+01:00",
    level: "Info",
    eventId: "none",
    message: "cmd.exe /c tool --password hunter2",
    rawXml: "<Data Name='CommandLine'>net user bob hunter2 /add</Data>",
  });
  expect(read).toMatchObject({
    ...{ recordId: 7, timeCreated: "2026-01-01T07:00:00.000Z", level: "information", eventId: null, user: null },
    message: "cmd.exe /c tool --password ********",
  });
  expect(JSON.stringify(read)).not.toContain("hunter2");
  expect(ReportedRecord.safeParse({ message: "without a number" }).success).toBe(false);
});

it("lists come bare or under their name, with or without a total", () => {
  expect(ReportedLogs.parse({ logs: [{ name: "System" }] })).toMatchObject([{ name: "System", recordCount: null }]);
  expect(ReportedLogs.parse([{ name: "System" }])).toHaveLength(1);
  expect(ReportedPage.parse([{ recordId: 1 }]).events).toHaveLength(1);
  expect(ReportedPage.parse({ events: [{ recordId: 1 }], total: 9 })).toMatchObject({ total: 9 });
  expect(ReportedPage.parse({ events: [], total: "many" }).total).toBeUndefined();
});
