import { isTest, sources } from "./sources.ts";

const FILE_MAX = 400;
const TEST_MAX = 600;

/** Allowed sizes of files over the limit. The list may only shrink. */
const exceptions: Readonly<Record<string, number>> = {};

export async function sizeFaults(): Promise<string[]> {
  return sources().flatMap(({ path, text }) => {
    const lines = text.split("\n").length - 1;
    const max = exceptions[path] ?? (isTest(path) ? TEST_MAX : FILE_MAX);
    return lines > max ? [`${path} has ${lines} lines, at most ${max}`] : [];
  });
}
