import { unstorableMessage } from "./storable.ts";

/** A key, or the index of an entry. */
export type JsonStep = string | number;

export interface JsonToken {
  readonly kind: "key" | "string" | "number";
  /** Where it stands; of a key, where its value does. Only until the next token is asked for. */
  readonly steps: readonly JsonStep[];
  /** As it is written, with quotes. */
  readonly source: string;
  /** What it means; of a number, how it is written. */
  readonly text: string;
  /** 0-based. */
  readonly at: number;
  /** A key that its object has already. */
  readonly again: boolean;
}

export interface JsonFault {
  readonly path: string;
  readonly message: string;
  readonly at: number;
}

/** `rows[0].email` */
export const stepsText = (steps: readonly JsonStep[]): string =>
  steps.reduce<string>(
    (text, step) => (typeof step === "number" ? `${text}[${step}]` : text === "" ? step : `${text}.${step}`),
    "",
  );

/** Keys, texts and numbers of a text that `JSON.parse` has read, as they are written. */
export function* jsonTokens(text: string): Generator<JsonToken> {
  const steps: JsonStep[] = [];
  const keys: Set<string>[] = [];
  const word = /[^\s,:[\]{}"]+/y;
  const beforeColon = /\s*:/y;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string;
    if (char === "{" || char === "[") {
      steps.push(char === "{" ? "" : 0);
      keys.push(new Set());
    } else if (char === "}" || char === "]") {
      steps.pop();
      keys.pop();
    } else if (char === ",") {
      const last = steps.at(-1);
      if (typeof last === "number") steps[steps.length - 1] = last + 1;
    } else if (char === '"') {
      const source = text.slice(at, endOfString(text, at));
      const meant = source.includes("\\") ? (JSON.parse(source) as string) : source.slice(1, -1);
      beforeColon.lastIndex = at + source.length;
      const isKey = beforeColon.test(text);
      const again = isKey && keys.at(-1)?.has(meant) === true;
      if (isKey) {
        steps[steps.length - 1] = meant;
        keys.at(-1)?.add(meant);
      }
      yield { kind: isKey ? "key" : "string", steps, source, text: meant, at, again };
      at += source.length - 1;
    } else {
      word.lastIndex = at;
      const source = word.exec(text)?.[0] ?? char;
      if (/^[-\d]/.test(source)) yield { kind: "number", steps, source, text: source, at, again: false };
      at += source.length - 1;
    }
  }
}

function endOfString(text: string, start: number): number {
  let end = start + 1;
  while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  return end + 1;
}

/**
 * What of a JSON text would not come back as it was sent (docs/conventions.md, "Values come back as sent"): numbers
 * that are no double, keys given twice, and text that no database can hold.
 */
export function jsonFaults(text: string): JsonFault[] {
  const faults: JsonFault[] = [];
  for (const { kind, steps, source, text: value, at, again } of jsonTokens(text)) {
    const fault = (message: string, place = steps) => {
      const path = shortened(stepsText(place));
      faults.push({ path, message: path === "" ? message : `${path}: ${message}`, at });
    };
    if (faults.length >= FAULTS_MAX) return faults;
    if (kind === "number") {
      if (!isExactNumber(source)) fault(`the number ${shortened(source)} cannot be kept exactly: send it as text`);
      continue;
    }
    const holder = () => (kind === "key" ? steps.slice(0, -1) : steps);
    if (value.includes("\u0000") || !value.isWellFormed()) fault(unstorableMessage, holder());
    if (kind !== "key") continue;
    if (value === "__proto__") fault("the key __proto__ cannot be kept", holder());
    if (again) fault("is given more than once");
  }
  return faults;
}

const FAULTS_MAX = 50;

/** Longer than any printed double, and short enough to compare quickly. */
const NUMBER_LENGTH_MAX = 400;

/** Whether a number of JSON is the very number that its double is printed as: `1.50` and `15e-1` are, `1e400` is not. */
export function isExactNumber(source: string): boolean {
  const value = Number(source);
  // As most are written: a body of a megabyte may hold half a million of them.
  if (String(value) === source) return true;
  return source.length <= NUMBER_LENGTH_MAX && Number.isFinite(value) && digits(source) === digits(String(value));
}

/** Significant digits and their exponent; a zero has no sign. */
function digits(source: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? [];
  const all = `${whole}${fraction}`.replace(/^0+/, "");
  const significant = all.replace(/0+$/, "");
  if (significant === "") return "0";
  return `${sign}${significant}e${Number(exponent) - fraction.length + all.length - significant.length}`;
}

const shortened = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text);
