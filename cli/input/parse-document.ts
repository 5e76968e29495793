import type { Document, LineCounter, Scalar } from "yaml";
import type { JsonStep } from "#contract/core/exact-json";
import { Written } from "./written.ts";

export interface ParsedDocument {
  /** Numbers and truth values are `Written`. */
  readonly value: unknown;
  /** 1-based line of a key or list entry; for merge keys, which have no line, of the nearest parent. */
  lineOf(steps: readonly JsonStep[]): number;
  readonly problems: readonly { readonly line: number; readonly message: string }[];
}

/** Limits aliases, which could otherwise expand without bound. */
const MAX_ALIASES = 1_000;

/** Reads YAML 1.2, and JSON if line numbers are needed. Keeps the position of every value. */
export async function parseDocument(text: string): Promise<ParsedDocument> {
  const { parseDocument: parse, LineCounter, visit } = await import("yaml");
  const lines = new LineCounter();
  const document = parse(text, { lineCounter: lines, merge: true, prettyErrors: false });
  const problems = document.errors.map(({ message, pos }) => ({ line: lines.linePos(pos[0]).line, message }));
  if (problems.length > 0) return { value: undefined, lineOf: () => 1, problems };
  visit(document, { Scalar: (key, node) => keepAsWritten(node, key === "key") });
  try {
    return {
      value: document.toJS({ maxAliasCount: MAX_ALIASES }),
      lineOf: (steps) => lineOf(document, lines, steps),
      problems,
    };
  } catch (error) {
    return { value: undefined, lineOf: () => 1, problems: [{ line: 1, message: (error as Error).message }] };
  }
}

/** A number is what JSON writes as one: `01067`, `+4930123` and `0x1F` are text, here as in JSON's quotes. */
const jsonNumber = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i;

function keepAsWritten(node: Scalar, isKey: boolean): void {
  const { value, source } = node;
  if ((typeof value !== "number" && typeof value !== "boolean") || source === undefined) return;
  const text = isKey || (typeof value === "number" && !jsonNumber.test(source));
  node.value = text ? source : new Written(source, value);
}

function lineOf(document: Document, lines: LineCounter, steps: readonly JsonStep[]): number {
  for (let depth = steps.length; depth >= 0; depth--) {
    const range = rangeOf(document, steps.slice(0, depth));
    if (range) return lines.linePos(range[0] as number).line;
  }
  return 1;
}

type Ranged = { range?: readonly number[] | null } | null | undefined;

/** Of the key where it has one: its value may begin lines below it. */
function rangeOf(document: Document, steps: readonly JsonStep[]): readonly number[] | null | undefined {
  const last = steps.at(-1);
  if (last === undefined) return (document.contents as Ranged)?.range;
  const parent = steps.length === 1 ? document.contents : document.getIn(steps.slice(0, -1), true);
  const pairs = (parent as { items?: readonly { key?: unknown }[] } | undefined)?.items ?? [];
  const key = typeof last === "string" ? pairs.find((pair) => isKey(pair.key, last))?.key : undefined;
  return ((key ?? document.getIn(steps, true)) as Ranged)?.range;
}

const isKey = (key: unknown, name: string): boolean => String((key as { value?: unknown } | null)?.value) === name;
