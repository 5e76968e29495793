import { type FilterOperator, filterOperators } from "#contract/core/filters/operators";
import { type Cursor, cursorOf, isMark, isWord, takeMark, takeWord } from "./cursor.ts";
import { WhereFault } from "./fault.ts";
import { fieldOf, operatorOf, operatorsOf, SPELLING_WORDS, spellings, type WhereField } from "./words.ts";

/** What may stand at the end of an expression that is not whole yet. */
export type Expected =
  | { readonly what: "field" }
  /** `said`: the words of an operator that stand there already. */
  | { readonly what: "operator"; readonly field: WhereField; readonly said: string }
  | { readonly what: "value"; readonly field: WhereField }
  | { readonly what: "unit" | "between" | "bracket" | "comma" }
  | { readonly what: "join"; readonly open: number };

/** Undefined where what stands there already is wrong. */
export function expectedAfter(head: string): Expected | undefined {
  try {
    const cursor = cursorOf(head);
    let open = 0;
    for (;;) {
      while (takeMark(cursor, "(")) {
        open += 1;
        if (!takeWord(cursor, "and")) takeWord(cursor, "or");
      }
      if (cursor.next().kind === "end") return { what: "field" };
      const missing = afterField(cursor);
      if (missing !== "whole") return missing;
      while (open > 0 && takeMark(cursor, ")")) open -= 1;
      if (cursor.next().kind === "end") return { what: "join", open };
      if (!takeWord(cursor, "and") && !takeWord(cursor, "or")) return undefined;
    }
  } catch (error) {
    if (error instanceof WhereFault) return undefined;
    throw error;
  }
}

function afterField(cursor: Cursor): Expected | "whole" | undefined {
  const field = fieldOf(cursor.take().text);
  if (field === undefined) return undefined;
  const words: string[] = [];
  while (words.length < SPELLING_WORDS && cursor.next(words.length).kind !== "end")
    words.push(cursor.next(words.length).text);
  const isAtEnd = cursor.next(words.length).kind === "end";
  const said = words.join(" ").toLowerCase();
  // More words could still make another operator: `is not`, `within last`.
  const goesOn = operatorsOf(field).some((one) =>
    spellings[one].some((spelling) => spelling.startsWith(said === "" ? "" : `${said} `)),
  );
  if (isAtEnd && goesOn && operatorOf(said) === undefined) return { what: "operator", field, said };
  for (let count = words.length; count > 0; count--) {
    const operator = operatorOf(words.slice(0, count).join(" "));
    if (operator === undefined) continue;
    cursor.take(count);
    return operatorsOf(field).includes(operator) ? afterOperator(cursor, field, operator) : undefined;
  }
  return undefined;
}

function afterOperator(cursor: Cursor, field: WhereField, operator: FilterOperator): Expected | "whole" | undefined {
  const value: Expected = { what: "value", field };
  const ends = () => cursor.next().kind === "end";
  switch (filterOperators[operator]) {
    case "none":
      return "whole";
    case "span":
      if (ends()) return value;
      cursor.take();
      if (ends()) return { what: "unit" };
      cursor.take();
      return "whole";
    case "range":
      if (ends()) return value;
      cursor.take();
      if (ends()) return { what: "between" };
      if (!takeWord(cursor, "and")) return undefined;
      break;
    case "list":
      return afterBracket(cursor, value);
    default:
  }
  if (ends()) return value;
  cursor.take();
  return "whole";
}

function afterBracket(cursor: Cursor, value: Expected): Expected | "whole" | undefined {
  if (cursor.next().kind === "end") return { what: "bracket" };
  if (!takeMark(cursor, "[")) return undefined;
  for (;;) {
    if (cursor.next().kind === "end") return value;
    if (takeMark(cursor, "]")) return "whole";
    const one = cursor.take();
    if (one.kind === "mark" || isWord(one, "and")) return undefined;
    if (cursor.next().kind === "end") return { what: "comma" };
    if (!takeMark(cursor, ",") && !isMark(cursor.next(), "]")) return undefined;
  }
}
