import { type FilterScalar, filterCaps } from "#contract/core/filters/condition";
import { didYouMean } from "#contract/core/suggest";
import { shown, WhereFault } from "./fault.ts";
import type { Token } from "./tokens.ts";
import type { WhereField } from "./words.ts";

/** A number as JSON writes it. */
export const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const NUMERIC_TEXT = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/;
const TIME = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;
const truths: Readonly<Record<string, boolean>> = { true: true, yes: true, false: false, no: false };

/** A text as it is, whatever it looks like. */
export function textOf(token: Token, max: number = filterCaps.textLength): string {
  if (token.text.length <= max) return token.text;
  throw new WhereFault(`A text has at most ${max} characters here, and this one ${token.text.length}`, token);
}

/** A value as its field holds it. In quotes it stays a text: the API takes `"5"` for a number too. */
export function scalarOf(field: WhereField, token: Token): FilterScalar {
  const text = textOf(token);
  switch (field.type) {
    case "number":
      return numberOf(token, text);
    case "boolean":
    case "capability":
      return truthOf(token, text);
    case "enum":
      return choiceOf(field, token, text);
    case "datetime":
      return timeOf(token, text);
    case "custom":
      return token.kind === "word" ? plain(token, text) : text;
    default:
      return text;
  }
}

function numberOf(token: Token, text: string): FilterScalar {
  if (token.kind === "text" ? NUMERIC_TEXT.test(text) : NUMBER.test(text)) {
    if (!Number.isFinite(Number(text))) throw new WhereFault("No computer counts that far", token);
    return token.kind === "text" ? text : Number(text);
  }
  const bare = /^(\d[\d_,']*)(k|m|g|t)?i?b$|%$/i.test(text) ? "Without its unit, as the field counts" : undefined;
  throw new WhereFault(`${shown(text)} is no number`, token, bare ?? "A number: 16384, -3, 0.5");
}

function truthOf(token: Token, text: string): FilterScalar {
  const value = Object.hasOwn(truths, text) ? truths[text] : undefined;
  if (value === undefined)
    throw new WhereFault(`${shown(text)} is neither true nor false`, token, "Write true or false");
  return token.kind === "text" ? text : value;
}

function choiceOf({ name, values = [] }: WhereField, token: Token, text: string): string {
  if (values.includes(text)) return text;
  const close = didYouMean(text.slice(0, 60), values);
  throw new WhereFault(`${name} is never ${shown(text)}${close}`, token, `Values: ${values.join(", ")}`);
}

function timeOf(token: Token, text: string): string {
  if (TIME.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new WhereFault(
    `${shown(text)} is no date and no time`,
    token,
    "A date such as 2026-01-31, or a time such as 2026-01-31T09:00:00Z",
  );
}

/** Of a custom field: numbers and truth values as JSON writes them, anything else is text. */
function plain(token: Token, text: string): FilterScalar {
  if (text === "true" || text === "false") return text === "true";
  return NUMBER.test(text) ? numberOf(token, text) : text;
}
