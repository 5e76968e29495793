export const NEWLINE = 10;

/**
 * Hundreds of times as long as any entry. Who owns the tables can write longer ones, up to a gigabyte, which would take all
 * memory: of these only the begin is read, and more fields follow than any table has, so that it is like no entry.
 */
export const LINE_MAX = 16 * 1_024 * 1_024;
const CUT = Buffer.from(`${"\t".repeat(100)}\n`);

/** Batches of whole lines of a `COPY … TO STDOUT` in text format, each line with its newline; none much longer than `LINE_MAX`. */
export async function* copiedLines(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // The line that a chunk has cut. Only that line is put together again: joining whole chunks costs more than all else.
  let cut: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const first = chunk.indexOf(NEWLINE) + 1;
    if (first === 0) {
      if (length < LINE_MAX) cut.push(chunk);
      length += chunk.length;
      continue;
    }
    const end = length < LINE_MAX ? chunk.subarray(0, first) : CUT;
    yield cut.length > 0 ? Buffer.concat([...cut, end]) : end;
    const last = chunk.lastIndexOf(NEWLINE) + 1;
    if (last > first) yield chunk.subarray(first, last);
    cut = last < chunk.length ? [chunk.subarray(last)] : [];
    length = chunk.length - last;
  }
}

/** The same as texts. */
export async function* copyLines(stream: AsyncIterable<Buffer>): AsyncGenerator<string[]> {
  for await (const lines of copiedLines(stream)) yield lines.toString("utf8", 0, lines.length - 1).split("\n");
}

const escapes: Record<string, string> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

/** Fields of one line; `\N` is null, backslash escapes are undone. */
export const copyFields = (line: string): (string | null)[] => {
  const fields: (string | null)[] = line.split("\t");
  if (!line.includes("\\")) return fields;
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index]!;
    if (field === "\\N") fields[index] = null;
    else if (field.includes("\\"))
      fields[index] = field.replace(/\\(.)/g, (_, letter: string) => escapes[letter] ?? letter);
  }
  return fields;
};

const MOMENT = /^\d{4}-\d{2}-\d{2} (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{0,2}[1-9])?\+00$/;

let cachedDay = "";
let cachedDayMs = Number.NaN;

/**
 * Milliseconds of a `timestamptz` as Postgres prints it in UTC; NaN for anything finer than a millisecond, and for what
 * only a column of another type can say, as a minute of 65 seconds.
 */
export const pgTimestampMs = (text: string): number => {
  if (!MOMENT.test(text)) return Number.NaN;
  const day = text.slice(0, 10);
  if (day !== cachedDay) {
    cachedDay = day;
    const ms = Date.parse(`${day}T00:00:00.000Z`);
    // There is a 31st of February for `Date`.
    cachedDayMs = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day) ? ms : Number.NaN;
  }
  const two = (at: number) => text.charCodeAt(at) * 10 + text.charCodeAt(at + 1) - 528;
  const fraction = text.length === 22 ? "" : text.slice(20, -3);
  const ms = fraction === "" ? 0 : Number(fraction) * 10 ** (3 - fraction.length);
  return cachedDayMs + two(11) * 3_600_000 + two(14) * 60_000 + two(17) * 1000 + ms;
};
