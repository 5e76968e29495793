import type { CommandSpec } from "../manifest.ts";
import { SECRET } from "./secret-shown.ts";

/** Where secrets stand in a result, but for those in lists: `key`, `enrollment.enrollmentKey`. */
const pathsOf = (spec: CommandSpec): readonly (readonly [string, ...string[]])[] =>
  spec.secretResult
    .filter((path) => /^\w+(\.\w+)*$/.test(path))
    .map((path) => path.split(".") as [string, ...string[]]);

/** True for a command whose result holds what is shown only once. */
export const mints = (spec: CommandSpec): boolean => topSecrets(spec).length > 0;

/**
 * Fields at the top of the result that are secret or hold a secret; the tokens of a session are not among them when the
 * SDK keeps them.
 */
export const topSecrets = (spec: CommandSpec): readonly string[] => [...new Set(pathsOf(spec).map(([name]) => name))];

/** The secrets that a result holds. */
export const secretTexts = (spec: CommandSpec, result: unknown): string[] =>
  pathsOf(spec).flatMap((path) => textsIn(path.reduce<unknown>(within, result)));

const within = (at: unknown, name: string) => (at as Record<string, unknown> | undefined)?.[name];

/** Such a field as it may come. */
export const sampleSecret = (spec: CommandSpec, field: string): unknown =>
  pathsOf(spec)
    .filter(([name]) => name === field)
    .reduce<unknown>(
      (made, [, inner]) => (inner === undefined ? SECRET : { ...(made as object), [inner]: SECRET }),
      {},
    );

/** Of the file of such a secret: several that belong together are kept as JSON. */
export const endingOf = ({ secretResult }: CommandSpec): "key" | "json" =>
  secretResult.length > 1 || secretResult.some((path) => path.includes(".")) ? "json" : "key";

/** A secret is kept as it is, what holds several with all that goes with them. */
export const keptText = (value: unknown): string => {
  const texts = textsIn(value);
  return texts.length > 0 ? texts.join("\n") : JSON.stringify(value);
};

const textsIn = (value: unknown): string[] =>
  typeof value === "string" ? [value] : Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
