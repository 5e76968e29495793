/** A part of an expression: from this index, up to that one. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** What is wrong with an expression, and where (cli/where/README.md, "What is wrong"). */
export class WhereFault extends Error {
  override readonly name = "WhereFault";
  readonly at: Span;
  /** What would be right. */
  readonly hint: string | undefined;

  constructor(message: string, { start, end }: Span, hint?: string) {
    super(message);
    this.at = { start, end };
    this.hint = hint;
  }
}

const SHOWN = 40;

/** A word of an expression as a message says it. */
export const shown = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
