import { isTest, sources } from "./sources.ts";

const unfinished = /\b(TODO|FIXME|XXX|not implemented)\b/;
const skipped = /\b(it|test|describe)\.(skip|todo|only)\(|expect\(true\)/;

/** Unfinished work and tests that cannot fail. */
export async function wordFaults(): Promise<string[]> {
  return sources().flatMap(({ path, text }) => {
    if (path.startsWith("scripts/check/")) return [];
    return text.split("\n").flatMap((line, index) => {
      if (!isTest(path) && unfinished.test(line)) return [`${path}:${index + 1} looks unfinished: ${line.trim()}`];
      return skipped.test(line) ? [`${path}:${index + 1} a test that does not run: ${line.trim()}`] : [];
    });
  });
}
