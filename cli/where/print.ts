import {
  type FilterCondition,
  type FilterGroup,
  type FilterScalar,
  filterCaps,
} from "#contract/core/filters/condition";
import { isGroup } from "./parse.ts";
import { fieldOf, spellings } from "./words.ts";

/** A filter as an expression that is read as that filter again (cli/where/README.md, "Grammar"). The filter must be valid. */
export function printWhere(root: FilterGroup): string {
  const [only, ...others] = root.conditions;
  const plain = others.length > 0 || (root.operator === "AND" && only !== undefined && !isGroup(only));
  return plain ? joined(root, 1) : grouped(root, 1);
}

const wordOf = ({ operator }: FilterGroup): string => operator.toLowerCase();

const joined = (group: FilterGroup, depth: number): string =>
  group.conditions.map((one) => partText(one, depth + 1)).join(` ${wordOf(group)} `);

/** A group of one has its word in front, because nothing stands between its conditions. */
function grouped(group: FilterGroup, depth: number): string {
  if (depth > filterCaps.depth) throw new RangeError("deeper than a filter may be");
  return group.conditions.length === 1 ? `(${wordOf(group)} ${joined(group, depth)})` : `(${joined(group, depth)})`;
}

const partText = (part: FilterGroup | FilterCondition, depth: number): string =>
  isGroup(part) ? grouped(part, depth) : conditionText(part);

function conditionText({ field, operator, value }: FilterCondition): string {
  const text = valueText(field, value);
  return [field, spellings[operator][0], ...(text === undefined ? [] : [text])].join(" ");
}

function valueText(field: string, value: FilterCondition["value"]): string | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) return `[${value.map((one) => textText(one)).join(", ")}]`;
  if (typeof value !== "object") return scalarText(field, value);
  if ("unit" in value) return `${value.amount} ${value.amount === 1 ? value.unit.slice(0, -1) : value.unit}`;
  return `${scalarText(field, value.from)} and ${scalarText(field, value.to)}`;
}

const literal: ReadonlySet<string> = new Set(["number", "boolean", "capability"]);

function scalarText(field: string, value: FilterScalar): string {
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  const type = fieldOf(field)?.type;
  // Without quotes these would be read as a number or a truth value.
  const mistaken =
    (type !== undefined && literal.has(type)) || (type === "custom" && /^(true|false|-?\d.*)$/.test(value));
  return mistaken ? quoted(value) : textText(value);
}

const BARE = /^[A-Za-z0-9_][A-Za-z0-9_.:/@+-]*$/;
const JOINS = /^(and|or)$/i;
/** What a terminal would not show as it is. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u;

/** A text as an expression has it, in quotes where it needs them. */
export const textText = (text: string): string => (BARE.test(text) && !JOINS.test(text) ? text : quoted(text));

function quoted(text: string): string {
  if (!UNSEEN.test(text)) return `'${text.replaceAll("'", "''")}'`;
  const safe = text.replace(/["\\]/g, "\\$&").replace(new RegExp(UNSEEN, "gu"), escaped);
  return `"${safe}"`;
}

const short: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const escaped = (char: string): string =>
  short[char] ??
  Array.from({ length: char.length }, (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");
