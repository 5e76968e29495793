import { inAnyCase } from "./any-case.ts";
import { allBut, anyInLine, type CodePoints, classes, controls, only, union } from "./code-points.ts";
import { choice, type PatternTree, repeat, sequence } from "./pattern-tree.ts";

/** Longest pattern, in characters. */
const LENGTH_MAX = 250;
const COUNT_MAX = 100;
/** What repetition unrolls to: bounds the machine that an engine builds. */
const STATES_MAX = 2_000;

class Refused extends Error {}

/** A part, and how many states an engine makes of it. */
interface Part {
  readonly tree: PatternTree;
  readonly states: number;
}

/** The pattern, or why it is none of the dialect (docs/filters.md, "Patterns"). */
export function parsePattern(source: string): PatternTree | { readonly refused: string } {
  try {
    return parse(source);
  } catch (error) {
    if (error instanceof Refused) return { refused: error.message };
    throw error;
  }
}

function parse(source: string): PatternTree {
  if ([...source].length > LENGTH_MAX) throw new Refused(`must have at most ${LENGTH_MAX} characters`);
  const anyCase = source.startsWith("(?i)");
  const reader = new Reader([...(anyCase ? source.slice(4) : source)], anyCase);
  const { tree, states } = reader.alternation();
  if (!reader.atEnd) throw new Refused("closes a group that is not open");
  if (states > STATES_MAX) throw new Refused(`is too large: repetition makes more than ${STATES_MAX} states of it`);
  return tree;
}

class Reader {
  readonly #signs: readonly string[];
  readonly #anyCase: boolean;
  #at = 0;

  constructor(signs: readonly string[], anyCase: boolean) {
    this.#signs = signs;
    this.#anyCase = anyCase;
  }

  get atEnd(): boolean {
    return this.#at >= this.#signs.length;
  }

  alternation(): Part {
    const parts = [this.#sequence()];
    while (this.#takes("|")) parts.push(this.#sequence());
    return { tree: choice(parts.map(({ tree }) => tree)), states: total(parts) + parts.length - 1 };
  }

  #sequence(): Part {
    const parts: Part[] = [];
    while (!this.atEnd && !this.#is("|") && !this.#is(")")) parts.push(this.#repeated());
    return { tree: sequence(parts.map(({ tree }) => tree)), states: total(parts) };
  }

  #repeated(): Part {
    const part = this.#atom();
    const counted = this.#quantifier();
    if (counted === undefined) return part;
    if (part.states === 0) throw new Refused("repeats a place, not a character");
    this.#takes("?");
    if (this.#quantifier() !== undefined) throw new Refused("repeats a repetition");
    const [least, most] = counted;
    const unrolled = most ?? least + 1;
    return { tree: repeat(part.tree, least, most), states: part.states * Math.max(1, unrolled) + 1 };
  }

  #quantifier(): readonly [least: number, most: number | undefined] | undefined {
    if (this.#takes("*")) return [0, undefined];
    if (this.#takes("+")) return [1, undefined];
    if (this.#takes("?")) return [0, 1];
    const written = /^\{(\d+)(,(\d*))?\}/.exec(this.#signs.slice(this.#at, this.#at + 20).join(""));
    if (!written) return undefined;
    const [all, least, several, most] = written;
    const counts = [Number(least), most ? Number(most) : Number(least)] as const;
    if (Math.max(...counts) > COUNT_MAX) throw new Refused(`counts above ${COUNT_MAX}`);
    if (counts[1] < counts[0]) throw new Refused("counts from more to less");
    this.#at += all.length;
    return [counts[0], several !== undefined && !most ? undefined : counts[1]];
  }

  #atom(): Part {
    const sign = this.#next();
    if (sign === "(") return this.#group();
    if (sign === "[") return one(this.#class());
    if (sign === ".") return one(anyInLine);
    if (sign === "^" || sign === "$") return place(sign === "^" ? "start" : "end");
    if (sign === "*" || sign === "+" || sign === "?") throw new Refused("repeats nothing");
    if (sign !== "\\") return one(this.#cased(only(sign.codePointAt(0) as number)));
    if (this.#takes("b")) return place("edge");
    if (this.#takes("B")) return place("noEdge");
    const escaped = this.#escaped();
    return one(typeof escaped === "number" ? this.#cased(only(escaped)) : escaped);
  }

  #group(): Part {
    if (this.#takes("?") && !this.#takes(":")) throw new Refused("looks around, names a group or sets a flag");
    const inner = this.alternation();
    if (!this.#takes(")")) throw new Refused("leaves a group open");
    return inner;
  }

  #class(): CodePoints {
    const negated = this.#takes("^");
    const parts: CodePoints[] = [];
    while (!this.#takes("]")) {
      const from = this.#member();
      if (!this.#is("-") || this.#signs[this.#at + 1] === "]")
        parts.push(typeof from === "number" ? this.#cased(only(from)) : from);
      else {
        this.#next();
        const to = this.#member();
        if (typeof from !== "number" || typeof to !== "number") throw new Refused("has a range between classes");
        if (to < from) throw new Refused("has a range that runs backwards");
        parts.push(this.#cased([[from, to]]));
      }
    }
    const all = union(...parts);
    return negated ? allBut(all) : all;
  }

  #member(): number | CodePoints {
    if (this.atEnd) throw new Refused("leaves a class open");
    const sign = this.#next();
    if (sign !== "\\") return sign.codePointAt(0) as number;
    return this.#takes("b") ? 8 : this.#escaped();
  }

  /** Behind a backslash: one character, or a class of them. */
  #escaped(): number | CodePoints {
    if (this.atEnd) throw new Refused("ends with a backslash");
    const sign = this.#next();
    const set = classes[sign];
    if (set !== undefined) return set;
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

  #cased(points: CodePoints): CodePoints {
    return this.#anyCase ? inAnyCase(points) : points;
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

const one = (of: CodePoints): Part => ({ tree: { kind: "one", of }, states: 1 });
const place = (kind: "start" | "end" | "edge" | "noEdge"): Part => ({ tree: { kind }, states: 0 });
const total = (parts: readonly Part[]): number => parts.reduce((sum, { states }) => sum + states, 0);
