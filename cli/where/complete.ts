import { spanUnits } from "#contract/core/filters/operators";
import { type Expected, expectedAfter } from "./expected.ts";
import { textText } from "./print.ts";
import { fieldNames, fieldOf, operatorsOf, shapeOf, spellings, type WhereField } from "./words.ts";

export type Candidate = readonly [text: string, about: string];

/** What the server has for a field: names of rows, tags; for `custom` the keys of custom fields. */
export type LiveNames = (field: string) => Promise<readonly Candidate[]>;

/** The word at the end, which may have begun with a quote. */
const lastWord = /(?:'(?:[^']|'')*|"(?:[^"\\]|\\.)*|[^\s'"()[\],=<>!]*)$/;

/**
 * Whole expressions that begin with what is typed, and go on by one word. Of one word that alone fits, what may follow
 * is told too: a shell would close the quotes after it.
 */
export async function whereCandidates(typed: string, live: LiveNames = async () => []): Promise<Candidate[]> {
  const found = await nextWords(typed, live);
  const [only] = found;
  if (found.length !== 1 || only === undefined) return found;
  const more = await nextWords(`${only[0]} `, live);
  return more.length > 0 ? [...(isWhole(only[0]) ? [only] : []), ...more] : found;
}

function isWhole(text: string): boolean {
  const expected = expectedAfter(text);
  return expected?.what === "join" && expected.open === 0;
}

async function nextWords(typed: string, live: LiveNames): Promise<Candidate[]> {
  const { head, word } = cut(typed);
  const expected = expectedAfter(head);
  const words = expected === undefined ? [] : await wordsFor(expected, word, live);
  const fitting = words.filter(([text]) => text.toLowerCase().startsWith(word.toLowerCase()));
  return fitting.map(([text, about]) => [`${headBefore(head, text)}${text}`, about]);
}

function headBefore(head: string, word: string): string {
  if ([",", "]", ")"].includes(word)) return head.trimEnd();
  return head === "" || /[\s([]$/.test(head) ? head : `${head} `;
}

/** A mark such as `>` may still become `>=`: where it could, it is the word that is being typed. */
function cut(typed: string): { head: string; word: string } {
  const mark = /[=<>!]+$/.exec(typed)?.[0];
  const word = mark ?? lastWord.exec(typed.slice(-2_000))?.[0] ?? "";
  return { head: typed.slice(0, typed.length - word.length), word };
}

const CUSTOM = "custom.";

async function wordsFor(expected: Expected, word: string, live: LiveNames): Promise<readonly Candidate[]> {
  switch (expected.what) {
    case "field":
      if (word.startsWith(CUSTOM)) return (await live("custom")).map(([key, about]) => [`${CUSTOM}${key}`, about]);
      return [
        ...fieldNames.map((name): Candidate => [name, fieldOf(name)?.about ?? ""]),
        [CUSTOM, "value of a custom field"],
        ["(", "a group"],
      ];
    case "operator":
      return operatorWords(expected.field, expected.said);
    case "value":
      return valueWords(expected.field, live);
    case "unit":
      return spanUnits.map((unit) => [unit, ""]);
    case "between":
      return [["and", "the other end"]];
    case "bracket":
      return [["[", "a list"]];
    case "comma":
      return [
        [",", "another value"],
        ["]", "the end of the list"],
      ];
    case "join":
      return [
        ["and", "both"],
        ["or", "one of both, at least"],
        ...(expected.open > 0 ? [[")", "the end of the group"] as const] : []),
      ];
  }
}

/** With words that stand there already, the rest: `empty` after `is`. */
function operatorWords(field: WhereField, said: string): Candidate[] {
  const begun = said === "" ? "" : `${said} `;
  return operatorsOf(field)
    .filter((one) => spellings[one][0].startsWith(begun))
    .map((one) => [spellings[one][0].slice(begun.length), shapeOf(one)]);
}

async function valueWords(field: WhereField, live: LiveNames): Promise<readonly Candidate[]> {
  if (field.values) return field.values.map((value) => [value, ""]);
  if (field.type === "boolean" || field.type === "capability") return ["true", "false"].map((value) => [value, ""]);
  if (field.type !== "id" && field.type !== "array") return [];
  return (await live(field.name)).map(([name, about]) => [textText(name), about]);
}
