import type { CommandSpec } from "../manifest.ts";
import { escapeControls } from "../output/escape.ts";
import type { Arguments, Draft } from "./invocation.ts";

/** An answer that says nothing but that it was done. */
export const isBareSuccess = (result: unknown): boolean =>
  typeof result === "object" &&
  result !== null &&
  (result as { success?: unknown }).success === true &&
  Object.keys(result).length === 1;

/** Verbs with which summaries begin, but for those that only take an `ed`. */
const pasts: Readonly<Record<string, string>> = {
  ...{ delete: "deleted", remove: "removed", decline: "declined", revoke: "revoked", disable: "disabled" },
  ...{ leave: "left", set: "set", forget: "forgot", take: "took", make: "made", give: "gave", send: "sent" },
};

const pastOf = (verb: string): string => pasts[verb] ?? `${verb}ed`;

/** `Deleted a site: HQ (4444…)`: the summary of the command in the past, and what it was done to as it was given. */
export function doneText({ summary, params }: CommandSpec, { args }: Arguments, draft: Draft): string {
  const [verb = "", ...rest] = summary.split(" ");
  const past = pastOf(verb.toLowerCase());
  const said = [past.charAt(0).toUpperCase() + past.slice(1), ...rest].join(" ");
  // `Leave a tenant, or decline its invitation` has two verbs.
  const deed = said.replace(/, or (\w+)(?= (?:its|it|them|their)\b)/, (_, second: string) => `, or ${pastOf(second)}`);
  const things = params.map((name, at) => {
    const id = draft.params[name] ?? "";
    const typed = args[at]?.trim();
    return escapeControls(typed === undefined || typed === id ? id : `${typed} (${id})`);
  });
  return things.length === 0 ? deed : `${deed}: ${things.join(", ")}`;
}
