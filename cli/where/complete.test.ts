import fc from "fast-check";
import { expect, it } from "vitest";
import { group } from "../test-filters.ts";
import { whereCandidates } from "./complete.ts";
import { printWhere } from "./print.ts";

const texts = async (typed: string) => (await whereCandidates(typed)).map(([text]) => text);

it("completes fields, at the start, after and, after or, and in parentheses", async () => {
  for (const head of ["", "status = online and ", "status = online or ", "(", "status = online and (or "])
    expect(await texts(`${head}hardware.c`), head).toEqual([`${head}hardware.cpuModel`, `${head}hardware.cpuCores`]);
  expect(await texts("")).toEqual(expect.arrayContaining(["osType", "tags", "custom.", "("]));
});

it("completes the operators that the field takes, word by word", async () => {
  expect(await texts("tags ")).toEqual(["tags any", "tags all", "tags is empty", "tags is not empty", "tags contains"]);
  expect(await texts("groupId ")).toEqual(["groupId =", "groupId in"]);
  expect(await texts("tags is not e")).toEqual(["tags is not empty", "tags is not empty and", "tags is not empty or"]);
  expect(await texts("hostname is ")).toEqual(["hostname is null", "hostname is not null"]);
  expect(await texts("hardware.cpuCores >")).toEqual(["hardware.cpuCores >", "hardware.cpuCores >="]);
});

it("completes values of an enum, truth values and units, in lists too", async () => {
  expect(await texts("osType = ")).toEqual(["osType = windows", "osType = macos", "osType = linux"]);
  expect(await texts("status in [online, of")).toEqual(["status in [online, offline,", "status in [online, offline]"]);
  expect(await texts("isHeadless = ")).toEqual(["isHeadless = true", "isHeadless = false"]);
  expect(await texts("lastSeenAt within 7 ")).toEqual(
    ["minutes", "hours", "days", "weeks", "months"].map((unit) => `lastSeenAt within 7 ${unit}`),
  );
});

it("goes on after a word that alone fits, so that no shell closes the quotes", async () => {
  expect(await texts("osTy")).toEqual(["osType =", "osType !=", "osType in", "osType not in"]);
  expect(await texts("osType = win")).toEqual(["osType = windows", "osType = windows and", "osType = windows or"]);
  expect(await texts("(osType = win")).toEqual(["(osType = windows and", "(osType = windows or", "(osType = windows)"]);
});

it("names rows as the server has them, in quotes where they need them", async () => {
  const live = async (field: string) => (field === "siteId" ? [["HQ", ""] as const, ["New York", "UTC"] as const] : []);
  expect(await whereCandidates("siteId = ", live)).toEqual([
    ["siteId = HQ", ""],
    ["siteId = 'New York'", "UTC"],
  ]);
});

it("proposes nothing after what is wrong", async () => {
  for (const typed of ["nope = ", "osType windows ", "groupId > ", "hostname = 'a' 'b' ", "status = online xor "])
    expect(await texts(typed), typed).toEqual([]);
});

it("goes on with what stands there, wherever in an expression", async () => {
  await fc.assert(
    fc.asyncProperty(group, fc.nat(), async (filter, cut) => {
      const whole = printWhere(filter);
      const typed = whole.slice(0, cut % (whole.length + 1));
      for (const text of await texts(typed))
        expect(text.toLowerCase().startsWith(typed.trimEnd().toLowerCase())).toBe(true);
    }),
    { numRuns: 300 },
  );
});
