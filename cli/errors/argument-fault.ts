import { ValidationError } from "#sdk/errors";
import { placeholderOf } from "../generic/placeholder.ts";
import { CliError } from "./cli-error.ts";

/**
 * An argument that cannot stand in the path, which the SDK finds before anything is sent, as wrong usage: it is called as
 * in help. Its value is not repeated: it may be a secret in the wrong place.
 */
export function argumentFault(thrown: unknown): CliError | undefined {
  if (!(thrown instanceof ValidationError) || thrown.outcome !== "not_sent") return undefined;
  const [name, message] = /^params\.(\w+) (.+)$/.exec(thrown.message)?.slice(1) ?? [];
  if (name === undefined || message === undefined) return undefined;
  const isId = message === "must be a uuid";
  return new CliError(`${placeholderOf(name)} ${isId ? "must be an id, not a name" : message}`, {
    exit: "usage",
    code: "VALIDATION_ERROR",
    hint: isId ? "A list shows ids with --wide" : undefined,
    cause: thrown,
  });
}
