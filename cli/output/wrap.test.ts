import { expect, it } from "vitest";
import { cellLines, termsText, wrapWords } from "./wrap.ts";

it("breaks at blanks alone: no word, and no command to type, is ever broken", () => {
  const line =
    "rmm: Not signed in to https://rmm.msp.example/a/long/path. Sign in: `rmm auth login --profile prod` (or not)";
  for (const width of [20, 40, 60, 80, 200]) {
    const lines = wrapWords(line, width, 5).split("\n");
    expect(lines.map((one) => one.trim()).join(" "), String(width)).toBe(line);
    expect(
      lines.filter((one) => one.includes("`rmm auth login --profile prod`")),
      String(width),
    ).toHaveLength(1);
    for (const one of lines.slice(1)) expect(one).toMatch(/^ {5}\S/);
    for (const one of lines) if (one.length > width) expect(one.trim().replace(/`[^`]*`/, "")).not.toContain(" ");
  }
  expect(wrapWords("  a bb ccc", 6, 4)).toBe("  a bb\n    ccc");
  expect(wrapWords("日本 語語 日本", 7, 2)).toBe("日本\n  語語\n  日本");
});

it("breaks a cell at blanks, between entries of a list, after marks of an address, and loses nothing", () => {
  expect(cellLines("it needs a second factor", 12)).toEqual(["it needs a", "second", "factor"]);
  expect(cellLines("sites:read,devices:read,scripts:read", 16)).toEqual([
    "sites:read,",
    "devices:read,",
    "scripts:read",
  ]);
  expect(cellLines("https://hooks.contoso.example/rmm/v2", 20)).toEqual([
    "https://hooks.",
    "contoso.example/rmm/",
    "v2",
  ]);
  expect(cellLines("run `rmm auth login` first", 16)).toEqual(["run", "`rmm auth login`", "first"]);
  expect(cellLines("`rmm auth login --store=file`", 20)).toEqual(["`rmm auth login", "--store=file`"]);
  expect(cellLines("日本語日本", 4)).toEqual(["日本", "語日", "本"]);
  expect(cellLines("", 4)).toEqual([""]);
});

it("sets terms beside what they mean, and a long term above it", () => {
  const rows = [
    ["--server <url>", "address of the server"],
    ["NO_COLOR, CLICOLOR, CLICOLOR_FORCE, FORCE_COLOR", "colours off and on"],
  ] as const;
  expect(termsText(rows, 30)).toBe(
    [
      "--server <url>  address of the",
      "                server",
      "NO_COLOR, CLICOLOR, CLICOLOR_FORCE, FORCE_COLOR",
      "                colours off",
      "                and on",
      "",
    ].join("\n"),
  );
});
