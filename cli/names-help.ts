import { nouns } from "./generated/nouns.ts";
import { nounsWithin, spellingOf } from "./noun-aliases.ts";

/** The groups that stand in this one, and the noun's own name where it is shown by another. */
export function namesHelp(noun: string): string {
  const within = nounsWithin(noun).map(([word, inner]): [string, string] => [
    `  ${word}`,
    nouns.find((one) => one.noun === inner)!.summary,
  ]);
  const width = Math.max(...within.map(([word]) => word.length));
  const lines = within.map(([word, about]) => `${word.padEnd(width)}  ${about}\n`);
  const groups = lines.length === 0 ? "" : `\nGroups:\n${lines.join("")}`;
  const shown = spellingOf(noun);
  return shown === noun ? groups : `${groups}\nAlso: rmm ${noun} is the same as rmm ${shown}.\n`;
}
