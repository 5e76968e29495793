import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { foldPath, foldText } from "./fold.ts";
import { commandGlob, covers, pathGlob, wildcardsOf } from "./glob.ts";
import { atOnce, inTurns, OutOfSteps, PREVIEW_STEPS_MAX, Steps } from "./steps.ts";

const matchesPath = (pattern: string, path: string, steps = new Steps(1e9)) =>
  atOnce(covers(pathGlob(pattern), foldPath(path), steps));
const matchesCommand = (pattern: string, line: string, steps = new Steps(1e9)) =>
  atOnce(covers(commandGlob(pattern), foldText(line), steps));

/** As one would write it who does not care for time. */
function naive(pattern: string, text: string, inPath: boolean): boolean {
  if (pattern === "") return text === "";
  if (inPath && pattern.startsWith("**"))
    return naive(pattern.slice(2), text, inPath) || (text !== "" && naive(pattern, text.slice(1), inPath));
  const [head] = pattern;
  const [first] = text;
  if (head === "*")
    return (
      naive(pattern.slice(1), text, inPath) ||
      (first !== undefined && !(inPath && first === "/") && naive(pattern, text.slice(1), inPath))
    );
  if (first === undefined) return false;
  const fits = head === "?" ? !(inPath && first === "/") : head === first;
  return fits && naive(pattern.slice(1), text.slice(1), inPath);
}

const pieces = (characters: string[], max: number) =>
  fc.array(fc.constantFrom(...characters), { maxLength: max }).map((parts) => parts.join(""));

describe("globs", () => {
  it("say the same as a matcher that tries everything", () => {
    fc.assert(
      fc.property(pieces(["a", "b", "/", "*", "**", "?"], 8), pieces(["a", "b", "/"], 10), (pattern, text) => {
        expect(matchesPath(pattern, text), `${pattern} ${text}`).toBe(naive(pattern, text, true));
        const line = naive(/[*?]/.test(pattern) ? pattern : `*${pattern}*`, text, false);
        expect(matchesCommand(pattern, text), `${pattern} ${text}`).toBe(line);
      }),
      { numRuns: 20_000 },
    );
  });

  it.each([
    ["c:/tools/*.exe", "C:\\Tools\\a.EXE", true],
    ["c:\\tools\\*.exe", "C:/tools/sub/a.exe", false],
    ["c:/tools/**.exe", "C:/tools/sub/a.exe", true],
    ["c:/tools/**/a.exe", "C:/tools/a.exe", false],
    ["c:/t?ols/a.exe", "c:/tools/a.exe", true],
    ["c:/t?a.exe", "c:/t/a.exe", false],
    ["?", "\u{1f4a9}", true],
    ["c:/kits/**", "C:\\\u212aits\\a.exe", false],
    ["c:/file/**", "C:\\F\u0130le\\a.exe", false],
    ["c:/stra\u00dfe/*", "C:\\STRASSE\\a.exe", false],
    ["c:/\u00e4pfel/*", "C:\\\u00c4pfel\\a.exe", true],
    ["c:/a.exe", "c:/a1exe", false],
  ])("%j covers %j: %j", (pattern, path, expected) => {
    expect(matchesPath(pattern, path)).toBe(expected);
  });

  it("counts wildcards as they are read", () => {
    expect(wildcardsOf("**/a*?.exe")).toBe(3);
    expect(wildcardsOf("c:/a.exe")).toBe(0);
  });
});

describe("cost", () => {
  const worst = (length: number) => {
    const steps = new Steps(1e9);
    matchesPath(`${"*a".repeat(16)}*b`, "a".repeat(length), steps);
    return steps.taken;
  };

  it("is at most pattern times text, and grows with the text no faster than the text", () => {
    expect(worst(1_000)).toBeLessThan(4 * 34 * 1_000);
    expect(worst(4_000) / worst(1_000)).toBeLessThan(4.5);
  });

  it("stops at its limit", () => {
    expect(() => matchesCommand(`${"a*".repeat(30)}b`, "a".repeat(20_000), new Steps(10_000))).toThrow(OutOfSteps);
  });

  it("lets others on while it goes to the end of a preview's steps (C14)", async () => {
    const steps = new Steps(PREVIEW_STEPS_MAX);
    const glob = commandGlob(`${"*a".repeat(32)}*b`);
    const text = foldText("a".repeat(24_000));
    let turns = 0;
    const watch = setInterval(() => {
      turns += 1;
    }, 1);
    const work = async () => {
      for (;;) await inTurns(covers(glob, text, steps));
    };
    await expect(work()).rejects.toThrow(OutOfSteps);
    clearInterval(watch);
    expect(turns).toBeGreaterThan(5);
  });
});
