/** A column of a table before it has to fit. */
export interface Column {
  readonly name: string;
  /** Of its widest cell, heading included. */
  readonly width: number;
  /** No row has a value there. */
  readonly blank: boolean;
  /** Never cut and never left out: a new secret, where it went, why something failed. */
  readonly keep: boolean;
  /** Broken into lines where there is no room. */
  readonly breaks?: boolean;
}

/** Columns by their place, with their widths; the first is wrapped where its width is not its own. */
export interface Layout {
  readonly shown: readonly number[];
  readonly widths: readonly number[];
}

export const GAP = 2;
const NARROWEST = 12;
/** Longer than any time, status or prefix. */
const SHORT = 20;
/** What is left of these when they are cut says nothing. */
const whole = /At$|^timestamp$|^status$|[pP]refix$/;
/** Not cut either, however long: a script or a question takes them as they are. */
const code = /^(kind|action|event|outcome|slug)$/;
const id = /^id$|Id$/;
/** Texts and addresses that say nothing when they are cut. */
const text = /^(message|errorMessage|note|sink|url)$/;
const NARROWEST_TEXT = 24;
/** A path is not read word by word. */
const NARROWEST_PATH = 16;
export const isText = (name: string): boolean => text.test(name);

/**
 * Fits columns into a terminal. The first one names the row and is never cut. Ids and empty columns go first, then wide
 * cells are shortened, then columns go from the right; of those that were asked for by name none goes.
 */
export function layOut(columns: readonly Column[], terminal: number, named: boolean): Layout {
  const all = columns.map((_, index) => index);
  const widthsOf = (shown: readonly number[]) => shown.map((index) => columns[index]!.width);
  const lowest = (index: number) => {
    const { name, width, keep, breaks } = columns[index]!;
    if (breaks) return Math.min(width, name === "sink" ? NARROWEST_PATH : NARROWEST_TEXT);
    if (index === 0 || keep || id.test(name) || code.test(name)) return width;
    return Math.min(width, whole.test(name) ? SHORT : NARROWEST);
  };
  let shown = all;
  const fits = (widths: readonly number[]) => total(widths) <= terminal;
  if (!named) {
    for (const index of all.toReversed()) {
      if (fits(widthsOf(shown))) break;
      const { name, blank, keep } = columns[index]!;
      if (index > 0 && (blank || (!keep && id.test(name)))) shown = shown.filter((one) => one !== index);
    }
    while (!fits(shown.map(lowest))) {
      const last = shown.findLast((index) => index > 0 && !columns[index]!.keep);
      if (last === undefined || (shown.length === 2 && !code.test(columns[last]!.name))) break;
      shown = shown.filter((one) => one !== last);
    }
  }
  return { shown, widths: shrunk(widthsOf(shown), shown.map(lowest), terminal) };
}

const total = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width, GAP * (widths.length - 1));

/** The widest columns give way; where that is not enough the first one is wrapped. */
function shrunk(natural: readonly number[], lowest: readonly number[], terminal: number): number[] {
  const widths = [...natural];
  for (let over = total(widths) - terminal; over > 0; over--) {
    const able = widths.map((width, index) => (width > lowest[index]! ? width : 0));
    const widest = able.indexOf(Math.max(...able));
    if (able[widest] === 0) {
      widths[0] = Math.max(Math.min(NARROWEST, widths[0]!), widths[0]! - over);
      break;
    }
    widths[widest]! -= 1;
  }
  return widths;
}
