import { describe, expect, it } from "vitest";
import { escapeControls, escapeText } from "./escape.ts";

describe("text of machines on a terminal", () => {
  it("has nothing left that moves, colours, breaks or reorders", () => {
    const hostile = [
      "\u001b[2J",
      "\u009b31m",
      "\u0007",
      "\u202e",
      "\u2066",
      "\u061c",
      "\u2028",
      "\u2029",
      "\u007f",
      "\r",
    ];
    for (const text of hostile) {
      for (const shown of [escapeControls(`a${text}b`), escapeText(`a${text}b`)])
        expect(shown, JSON.stringify(text)).toMatch(/^a\\[\x20-\x7e]+b$/);
    }
    expect(escapeControls("a\nb\tc")).toBe("a\\nb\\tc");
    expect(escapeText("a\nb\tc")).toBe("a\nb\tc");
  });

  it("keeps every script as it is", () => {
    for (const text of ["株式会社", "שלום", "مرحبا", "Ünïcode", "👩‍💻"]) expect(escapeControls(text)).toBe(text);
  });
});
