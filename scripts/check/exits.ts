import { systemReasons } from "#server/db/system-reasons";
import { isTest, type Source, sources } from "./sources.ts";

/** Handles without the tenant scope and without a reason, which only the database room may use. */
const unreasoned: readonly [RegExp, string][] = [
  [/\bsystemHandle\b/, "takes a handle without a reason: asSystem(services, reason)"],
  [/\.volatile\b/, "takes the handle of what may be lost: server/db/rate-limits.ts"],
];

/** `asSystem(…, "reason")` of any kind, over several lines too. */
const given = /\b(?:asSystem|readAsSystem)\(\s*(?:[\w.#]+|\{[^}]*\})?,?\s*"([^"]+)"/g;

/** Code that leaves the tenant scope without `asSystem`, and reasons that no code uses any more. */
export async function exitFaults(files: readonly Source[] = sources()): Promise<string[]> {
  const served = files.filter(({ path }) => path.startsWith("server/") && !isTest(path));
  const others = served.flatMap(({ path, text }) =>
    path.startsWith("server/db/")
      ? []
      : unreasoned.filter(([pattern]) => pattern.test(text)).map(([, says]) => `${path} ${says}`),
  );
  const reasons = new Set(served.flatMap(({ text }) => [...text.matchAll(given)].map((match) => match[1])));
  const unused = Object.keys(systemReasons).filter((reason) => !reasons.has(reason));
  return [...others, ...unused.map((reason) => `nothing gives the reason "${reason}": server/db/system-reasons.ts`)];
}
