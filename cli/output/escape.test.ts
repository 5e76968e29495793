import { describe, expect, it } from "vitest";
import { escapeControls, escapeTsv, ownSequence, printable } from "./escape.ts";

const controls = [
  ...Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code)),
  ...Array.from({ length: 0x21 }, (_, code) => String.fromCharCode(0x7f + code)),
  ..."\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
];

describe("text of machines on a terminal", () => {
  it("has nothing left that moves, colours, breaks or reorders", () => {
    for (const text of controls) {
      expect(escapeControls(`a${text}b`), JSON.stringify(text)).toMatch(/^a\\[\x20-\x7e]+b$/);
      expect(escapeTsv(`a${text}b`), JSON.stringify(text)).toMatch(/^a\\[\x20-\x7e]+b$/);
      if (text !== "\n" && text !== "\t") expect(printable(`a${text}b`)).toMatch(/^a\\[\x20-\x7e]+b$/);
    }
    expect(printable("a\nb\tc")).toBe("a\nb\tc");
    expect(printable("\u001b[31m\u001b[1;7m\u001b]0;title\u0007")).not.toContain("\u001b");
    expect(printable(`${ownSequence(31, "m")}red\u001b[0m`)).toBe("\u001b[31mred\\u001b[0m");
  });

  it("is the same JSON as before", () => {
    const value = { "a\u009b\u202e": ["\u007f\u0085\u2028", "::error::x", "##vso[task.complete]", "C:\\u0000"] };
    expect(JSON.parse(printable(JSON.stringify(value, null, 2)))).toEqual(value);
  });

  it("keeps every script as it is", () => {
    for (const text of ["株式会社", "שלום", "مرحبا", "Ünïcode", "👩‍💻"]) expect(printable(text)).toBe(text);
  });
});

it("gives a log of a pipeline nothing to obey", () => {
  const commands = ["::error::x", " \t::set-output name=a::b", "a\n::stop-commands::t", "##[group]x", "x ##vso[task]y"];
  for (const text of commands) expect(printable(text)).not.toMatch(/^\s*::|##(\[|vso\[)/m);
  for (const text of ["::1", "fe80::1", "a ::b:: c", "## heading"]) expect(printable(text)).toBe(text);
});
