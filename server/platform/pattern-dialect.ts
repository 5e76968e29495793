import { classes, controls, hex, literal } from "./pattern-characters.ts";

/** Longest pattern, in characters. */
const LENGTH_MAX = 250;
const COUNT_MAX = 100;
/** What repetition unrolls to: bounds the machine that the engine builds. */
const STATES_MAX = 2_000;

/** Why a pattern does not belong to the dialect. */
export class Refused extends Error {}

/** A part in the engine's spelling, and how many states it takes. */
interface Part {
  readonly text: string;
  readonly states: number;
}

/**
 * A pattern of the dialect (docs/fleet.md, "Patterns") in the spelling of the engine, with ECMAScript's meaning: where
 * the two differ, the text says in full what is meant.
 */
export function translate(source: string): string {
  if ([...source].length > LENGTH_MAX) throw new Refused(`must have at most ${LENGTH_MAX} characters`);
  const insensitive = source.startsWith("(?i)");
  const reader = new Reader([...(insensitive ? source.slice(4) : source)]);
  const { text, states } = reader.alternation();
  if (!reader.atEnd) throw new Refused("closes a group that is not open");
  if (states > STATES_MAX) throw new Refused(`is too large: repetition makes more than ${STATES_MAX} states of it`);
  return insensitive ? `(?i)${text}` : text;
}

class Reader {
  readonly #signs: readonly string[];
  #at = 0;

  constructor(signs: readonly string[]) {
    this.#signs = signs;
  }

  get atEnd(): boolean {
    return this.#at >= this.#signs.length;
  }

  alternation(): Part {
    const parts = [this.#sequence()];
    while (this.#takes("|")) parts.push(this.#sequence());
    return { text: parts.map(({ text }) => text).join("|"), states: total(parts) + parts.length - 1 };
  }

  #sequence(): Part {
    const parts: Part[] = [];
    while (!this.atEnd && !this.#is("|") && !this.#is(")")) parts.push(this.#repeated());
    return { text: parts.map(({ text }) => text).join(""), states: total(parts) };
  }

  #repeated(): Part {
    const part = this.#atom();
    const counted = this.#quantifier();
    if (counted === undefined) return part;
    if (part.states === 0) throw new Refused("repeats a place, not a character");
    const lazy = this.#takes("?") ? "?" : "";
    if (this.#quantifier() !== undefined) throw new Refused("repeats a repetition");
    return { text: `(?:${part.text})${counted.text}${lazy}`, states: part.states * Math.max(1, counted.most) + 1 };
  }

  #quantifier(): { text: string; most: number } | undefined {
    for (const sign of ["*", "+", "?"]) if (this.#takes(sign)) return { text: sign, most: 1 };
    const written = /^\{(\d+)(,(\d*))?\}/.exec(this.#signs.slice(this.#at, this.#at + 20).join(""));
    if (!written) return undefined;
    const [all, least, several, most] = written;
    const counts = [Number(least), most ? Number(most) : Number(least)] as const;
    if (Math.max(...counts) > COUNT_MAX) throw new Refused(`counts above ${COUNT_MAX}`);
    if (counts[1] < counts[0]) throw new Refused("counts from more to less");
    this.#at += all.length;
    return { text: all, most: counts[1] + (several !== undefined && !most ? 1 : 0) };
  }

  #atom(): Part {
    const sign = this.#next();
    if (sign === "(") return this.#group();
    if (sign === "[") return { text: this.#class(), states: 1 };
    if (sign === ".") return { text: "[^\\n\\r\\x{2028}\\x{2029}]", states: 1 };
    if (sign === "^" || sign === "$") return { text: sign === "^" ? "\\A" : "\\z", states: 0 };
    if (sign === "*" || sign === "+" || sign === "?") throw new Refused("repeats nothing");
    if (sign !== "\\") return { text: literal(sign), states: 1 };
    if (this.#takes("b")) return { text: "\\b", states: 0 };
    if (this.#takes("B")) return { text: "\\B", states: 0 };
    const escaped = this.#escaped();
    return { text: typeof escaped === "number" ? hex(escaped) : `[${escaped.set}]`, states: 1 };
  }

  #group(): Part {
    if (this.#takes("?") && !this.#takes(":")) throw new Refused("looks around, names a group or sets a flag");
    const inner = this.alternation();
    if (!this.#takes(")")) throw new Refused("leaves a group open");
    return { text: `(?:${inner.text})`, states: inner.states };
  }

  #class(): string {
    const negated = this.#takes("^");
    let set = "";
    while (!this.#takes("]")) {
      const from = this.#member();
      if (!this.#is("-") || this.#signs[this.#at + 1] === "]") set += typeof from === "number" ? hex(from) : from.set;
      else {
        this.#next();
        const to = this.#member();
        if (typeof from !== "number" || typeof to !== "number") throw new Refused("has a range between classes");
        if (to < from) throw new Refused("has a range that runs backwards");
        set += `${hex(from)}-${hex(to)}`;
      }
    }
    if (set === "") return negated ? "[\\x{0}-\\x{10ffff}]" : "[^\\x{0}-\\x{10ffff}]";
    return `[${negated ? "^" : ""}${set}]`;
  }

  #member(): number | { set: string } {
    if (this.atEnd) throw new Refused("leaves a class open");
    const sign = this.#next();
    if (sign !== "\\") return sign.codePointAt(0) as number;
    return this.#takes("b") ? 8 : this.#escaped();
  }

  /** Behind a backslash: one character, or a class of them. */
  #escaped(): number | { set: string } {
    if (this.atEnd) throw new Refused("ends with a backslash");
    const sign = this.#next();
    const set = classes[sign];
    if (set !== undefined) return { set };
    if (sign === "x") return this.#hexadecimal(2);
    if (sign === "u") return this.#hexadecimal(4);
    if (sign === "0" && /\d/.test(this.#signs[this.#at] ?? "")) throw new Refused("has an octal escape");
    const control = controls[sign];
    if (control !== undefined) return control;
    if (/[1-9k]/.test(sign)) throw new Refused("refers back");
    if (/[A-Za-z]/.test(sign)) throw new Refused(`has the unknown escape \\${sign}`);
    return sign.codePointAt(0) as number;
  }

  #hexadecimal(digits: number): number {
    const written = this.#signs.slice(this.#at, this.#at + digits).join("");
    if (!new RegExp(`^[0-9a-f]{${digits}}$`, "i").test(written)) throw new Refused("has a malformed escape");
    this.#at += digits;
    return Number.parseInt(written, 16);
  }

  #next(): string {
    return this.#signs[this.#at++] as string;
  }

  #is(sign: string): boolean {
    return this.#signs[this.#at] === sign;
  }

  #takes(sign: string): boolean {
    if (!this.#is(sign)) return false;
    this.#at += 1;
    return true;
  }
}

const total = (parts: readonly Part[]): number => parts.reduce((sum, { states }) => sum + states, 0);
