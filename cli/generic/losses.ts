import type { Context } from "../context.ts";
import type { CommandSpec } from "../manifest.ts";
import { fieldsOf } from "./fields.ts";
import type { Draft } from "./invocation.ts";

/** What must be confirmed before a request is sent: nothing, a yes, the number of entries, or the slug of the tenant. */
export type Question = "none" | "yes" | "count" | "slug";

/** A tenant is confirmed by its slug and several entries by their number; `--yes` is not enough for either. */
export function questionBefore({ loses }: CommandSpec, count: number): Question {
  if (loses === "nothing") return "none";
  if (loses === "tenant") return "slug";
  return count > 1 ? "count" : "yes";
}

/** What must be given on the command line if no one can be asked. */
export function answersNeeded({ globals }: Context, spec: CommandSpec, count: number): string[] {
  const question = globals.dryRun ? "none" : questionBefore(spec, count);
  if (question === "none") return [];
  if (question === "yes") return globals.yes ? [] : ["--yes"];
  return globals.confirm === undefined ? [question === "slug" ? "--confirm=<slug>" : `--confirm=${count}`] : [];
}

const consequences = {
  nothing: "",
  work: " What it is doing is lost",
  row: " It cannot be restored",
  secret: " The present secret stops working permanently",
  tenant: " Everything in it is deleted too",
} as const;

/** What is lost, after what is done. */
export const consequenceOf = ({ loses, method }: CommandSpec): string =>
  // What is set can be set again; what was removed because of it is gone.
  loses === "row" && method === "PUT" ? " What that removes cannot be restored" : consequences[loses];

/** What a request would do, as it was given; for who is asked for `--yes`. */
export function deedText(spec: CommandSpec, { params, query, body }: Draft): string {
  const flags = fieldsOf(spec).flatMap(({ spec: { name, secret }, where, flag }) => {
    const value = (where === "query" ? query : body)[name];
    if (secret || value === undefined || typeof value === "object") return [];
    if (typeof value === "boolean") return [value ? `--${flag}` : `--no-${flag}`];
    return [`--${flag} ${String(value)}`];
  });
  const given = [...spec.params.map((name) => params[name]), ...flags].join(", ");
  return `It would do this: ${spec.summary}: ${given}.${consequenceOf(spec)}`;
}
