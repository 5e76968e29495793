const NEWLINE = 10;
const escapes: Record<string, string> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

/** Batches of whole lines of a `COPY … TO STDOUT` in text format. */
export async function* copyLines(stream: AsyncIterable<Buffer>): AsyncGenerator<string[]> {
  let rest: Buffer | undefined;
  for await (const chunk of stream) {
    const data: Buffer = rest ? Buffer.concat([rest, chunk]) : chunk;
    const end = data.lastIndexOf(NEWLINE);
    // Decoded up to a line end only: a character may be cut by the chunk, never by a line.
    rest = end + 1 < data.length ? data.subarray(end + 1) : undefined;
    if (end >= 0) yield data.toString("utf8", 0, end).split("\n");
  }
}

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

const MOMENT = /^(\d{4}-\d{2}-\d{2}) (\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,3}))?\+00$/;

let cachedDay = "";
let cachedDayMs = Number.NaN;

/** Milliseconds of a `timestamptz` as Postgres prints it in UTC; NaN for anything finer than a millisecond. */
export const pgTimestampMs = (text: string): number => {
  const [, day, hours, minutes, seconds, fraction = ""] = MOMENT.exec(text) ?? [];
  if (day === undefined) return Number.NaN;
  if (day !== cachedDay) {
    cachedDay = day;
    cachedDayMs = Date.parse(`${day}T00:00:00.000Z`);
  }
  const ofDay = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  return cachedDayMs + ofDay + Number(fraction.padEnd(3, "0"));
};
