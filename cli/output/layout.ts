/** A column of a table before it has to fit. */
export interface Column {
  readonly name: string;
  /** Of its widest cell, heading included. */
  readonly width: number;
  /** No row has a value there. */
  readonly blank: boolean;
  /** Never narrowed and never left out: a new secret. */
  readonly keep: boolean;
}

/** Columns by their place, with their widths; what is wider than its column is broken into lines. */
export interface Layout {
  readonly shown: readonly number[];
  readonly widths: readonly number[];
}

export const GAP = 2;
const NARROWEST = 12;
/** Longer than any time, status or prefix. */
const SHORT = 20;
/** These are read at one glance, on one line. */
const whole = /At$|^timestamp$|^status$|[pP]refix$/;
/** On one line too, however long: a script or a question takes them as they are. */
const code = /^(kind|action|event|outcome|slug)$/;
const id = /^id$|Id$/;
/** Texts and addresses: never left out, and their end is often what matters. */
const text = /^(message|errorMessage|note|reasons|remedy|secretFile|sink|url|matches)$/;
const name = /^(organization|hostname|email|title)$|[nN]ame$/;
const path = /^(secretFile|sink)$/;
const NARROWEST_TEXT = 24;
/** Of several texts side by side, and of a path, which is not read word by word. */
const NARROW_TEXT = 16;
/** Where not even the narrow columns fit. */
const SLIVER = 8;
const isText = (column: string): boolean => text.test(column);
/** Has as many lines as it takes; of other columns a long value is cut. */
export const isNeverCut = (column: string): boolean => isText(column) || name.test(column);

/**
 * Fits columns into a terminal. Ids and empty columns go first, then wide columns are narrowed, then columns go from the
 * right, but for the first one, which names the row, and texts; of those that were asked for by name none goes.
 */
export function layOut(columns: readonly Column[], terminal: number, named: boolean): Layout {
  const all = columns.map((_, index) => index);
  const widthsOf = (shown: readonly number[]) => shown.map((index) => columns[index]!.width);
  const several = columns.filter(({ name, blank }) => isText(name) && !blank).length > 1;
  const stays = (index: number) => columns[index]!.keep || isText(columns[index]!.name);
  const lowest = (index: number) => {
    const { name, width, keep } = columns[index]!;
    if (isText(name)) return Math.min(width, several || path.test(name) ? NARROW_TEXT : NARROWEST_TEXT);
    if (index === 0 || keep || id.test(name) || code.test(name)) return width;
    return Math.min(width, whole.test(name) ? SHORT : NARROWEST);
  };
  let shown = all;
  const fits = (widths: readonly number[]) => total(widths) <= terminal;
  if (!named) {
    for (const index of all.toReversed()) {
      if (fits(widthsOf(shown))) break;
      const { name, blank } = columns[index]!;
      if (index > 0 && (blank || (!stays(index) && id.test(name)))) shown = shown.filter((one) => one !== index);
    }
    while (!fits(shown.map(lowest))) {
      const last = shown.findLast((index) => index > 0 && !stays(index));
      if (last === undefined || (shown.length === 2 && !code.test(columns[last]!.name))) break;
      shown = shown.filter((one) => one !== last);
    }
  }
  const widths = shrunk(
    shown.map((index) => columns[index]!),
    shown.map(lowest),
    terminal,
  );
  return { shown, widths };
}

const total = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width, GAP * (widths.length - 1));

/** The widest columns give way; where that is not enough the first one does, and then texts do. */
function shrunk(columns: readonly Column[], lowest: readonly number[], terminal: number): number[] {
  const widths = columns.map(({ width }) => width);
  const narrow = (floorOf: (index: number) => number) => {
    for (let over = total(widths) - terminal; over > 0; over--) {
      const able = widths.map((width, index) => (width > floorOf(index) ? width : 0));
      const widest = able.indexOf(Math.max(...able));
      if (able[widest] === 0) return;
      widths[widest]! -= 1;
    }
  };
  narrow((index) => lowest[index]!);
  narrow((index) => (index === 0 ? NARROWEST : lowest[index]!));
  narrow((index) => (index === 0 || isText(columns[index]!.name) ? SLIVER : lowest[index]!));
  return widths;
}
