import { describe, expect, it } from "vitest";
import { isCanonical, isPlainImage } from "./paths.ts";
import { isWithin } from "./time-window.ts";

describe("a canonical path", () => {
  it.each([
    "C:\\Windows\\System32\\cmd.exe",
    "c:/a",
    "/usr/bin/env",
    "\\Windows\\x.exe",
    "C:\\a.b\\c d\\e",
    "C:\\\u65e5\u672c\\x",
  ])("%j is one", (path) => expect(isCanonical(path)).toBe(true));

  it.each([
    "cmd.exe",
    "C:cmd.exe",
    "Windows\\cmd.exe",
    "\\\\server\\share\\a.exe",
    "//server/share/a.exe",
    "\\\\?\\C:\\a.exe",
    "\\\\.\\C:\\a.exe",
    "\\??\\C:\\a.exe:x",
    "C:\\\\a.exe",
    "C:\\a\\",
    "C:\\",
    "/",
    "",
    "C:\\.\\a.exe",
    "C:\\a\\..\\b.exe",
    "C:\\a.\\b.exe",
    "C:\\a \\b.exe",
    "C:\\b.exe ",
    "C:\\PROGRA~1\\a.exe",
    "C:\\a.exe:stream",
    "C:\\%TEMP%\\a.exe",
    "C:\\a\u0000.exe",
    "C:\\a\u202eexe.txt",
    "C:\\a\u200b.exe",
    "C:\\a\u00ad.exe",
    "C:\\a\ufe0f.exe",
  ])("%j is none", (path) => expect(isCanonical(path)).toBe(false));

  it("of a parent image may be a name alone, and nothing else that could be read otherwise", () => {
    for (const image of ["explorer.exe", "C:\\Windows\\explorer.exe", "/bin/sh"])
      expect(isPlainImage(image)).toBe(true);
    for (const image of ["..\\explorer.exe", "\\\\srv\\x\\a.exe", "a~1.exe", "C:a.exe", "a.exe "])
      expect(isPlainImage(image)).toBe(false);
  });
});

describe("a time window", () => {
  const at = (iso: string, window: Parameters<typeof isWithin>[0]) => isWithin(window, new Date(iso));

  it("has its start and not its end, in UTC unless it says otherwise", () => {
    const office = { start: "08:00", end: "17:00" };
    expect(at("2026-11-25T07:59:59.999Z", office)).toBe(false);
    expect(at("2026-11-25T08:00:00.000Z", office)).toBe(true);
    expect(at("2026-11-25T16:59:59.999Z", office)).toBe(true);
    expect(at("2026-11-25T17:00:00.000Z", office)).toBe(false);
    expect(at("2026-11-25T22:30:00Z", { ...office, timezone: "Pacific/Auckland" })).toBe(true);
    expect(at("2026-11-25T02:30:00Z", { ...office, timezone: "Asia/Kolkata" })).toBe(true);
    expect(at("2026-11-25T02:29:00Z", { ...office, timezone: "Asia/Kolkata" })).toBe(false);
  });

  it("over midnight is of the day on which it starts, by the clock of its zone", () => {
    const night = { start: "22:00", end: "06:00", days: [5] };
    expect(at("2026-11-27T21:59:00Z", night)).toBe(false);
    expect(at("2026-11-27T22:00:00Z", night)).toBe(true);
    expect(at("2026-11-28T05:59:00Z", night)).toBe(true);
    expect(at("2026-11-28T06:00:00Z", night)).toBe(false);
    expect(at("2026-11-28T23:00:00Z", night)).toBe(false);
    expect(at("2026-11-27T03:00:00Z", night)).toBe(false);
    // Saturday is followed by Sunday, 0.
    expect(at("2026-11-29T01:00:00Z", { ...night, days: [6] })).toBe(true);
    expect(at("2026-11-28T06:00:00Z", { ...night, timezone: "America/New_York" })).toBe(true);
  });

  it("is all day where start is end, on its days", () => {
    const whole = { start: "09:00", end: "09:00", days: [3] };
    expect(at("2026-11-25T03:00:00Z", whole)).toBe(true);
    expect(at("2026-11-25T23:59:59Z", whole)).toBe(true);
    expect(at("2026-11-26T03:00:00Z", whole)).toBe(false);
  });

  it("follows summer time: a minute that is skipped never comes, one that is repeated comes twice", () => {
    const berlin = { start: "02:00", end: "03:00", timezone: "Europe/Berlin" };
    expect(at("2026-03-28T01:30:00Z", berlin)).toBe(true);
    for (const iso of ["2026-03-29T00:59:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"])
      expect(at(iso, berlin)).toBe(false);
    for (const iso of ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"]) expect(at(iso, berlin)).toBe(true);
    for (const iso of ["2026-10-24T23:59:00Z", "2026-10-25T02:00:00Z"]) expect(at(iso, berlin)).toBe(false);
    // Where the clock goes from 24:00 to 01:00, the day that begins late is still the next one.
    const santiago = { start: "22:00", end: "04:00", days: [6], timezone: "America/Santiago" };
    expect(at("2026-09-06T03:30:00Z", santiago)).toBe(true);
    expect(at("2026-09-06T04:30:00Z", santiago)).toBe(true);
    expect(at("2026-09-06T07:30:00Z", santiago)).toBe(false);
  });

  it("of office hours and of a night follow their zone in summer, in winter and as the clocks change (C26)", () => {
    const office = { start: "09:00", end: "17:00", days: [1, 2, 3, 4, 5], timezone: "Europe/Paris" };
    expect(at("2026-07-14T07:30:00Z", office)).toBe(true);
    expect(at("2026-01-13T07:30:00Z", office)).toBe(false);
    const night = { start: "22:00", end: "06:00", days: [5], timezone: "America/New_York" };
    expect(at("2026-06-06T03:00:00Z", night)).toBe(true);
    expect(at("2026-06-06T05:00:00Z", night)).toBe(true);
    expect(at("2026-06-06T11:00:00Z", night)).toBe(false);
    const saturday = { ...night, days: [6] };
    // 8 March and 1 November are Sundays: 05:59 there is 09:59Z in summer, 10:59Z in winter.
    expect(at("2026-03-08T09:59:00Z", saturday)).toBe(true);
    expect(at("2026-03-08T10:00:00Z", saturday)).toBe(false);
    expect(at("2026-11-01T10:59:00Z", saturday)).toBe(true);
    expect(at("2026-11-01T11:00:00Z", saturday)).toBe(false);
  });

  it("that cannot be read throws", () => {
    for (const window of [
      { start: "24:00", end: "01:00" },
      { start: "8:00", end: "09:00" },
      { start: "08:00", end: "09:00", timezone: "No/Where" },
    ])
      expect(() => at("2026-11-25T08:00:00Z", window)).toThrow();
  });
});
