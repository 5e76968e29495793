/**
 * Many times as long as any entry. Who owns the tables can write longer ones, up to a gigabyte, which would take all
 * memory: of these only the begin is read, so that they are like no entry.
 */
export const TUPLE_MAX = 4 * 1_024 * 1_024;
const HEADER = 19;

export const int32At = (data: Uint8Array, at: number): number =>
  ((data[at] as number) << 24) |
  ((data[at + 1] as number) << 16) |
  ((data[at + 2] as number) << 8) |
  (data[at + 3] as number);

/** Where the tuple that begins at `at` ends; undefined where the data ends first, and at the end of the copy. */
export function tupleEnd(data: Uint8Array, at: number): number | undefined {
  if (at + 2 > data.length || isTrailer(data, at)) return undefined;
  const fields = ((data[at] as number) << 8) | (data[at + 1] as number);
  let end = at + 2;
  for (let field = 0; field < fields; field += 1) {
    if (end + 4 > data.length) return undefined;
    end += 4 + Math.max(0, int32At(data, end));
  }
  return end <= data.length ? end : undefined;
}

const isTrailer = (data: Uint8Array, at: number) => ((data[at] as number) & 0x80) !== 0;

/** Batches of whole tuples of a `COPY … TO STDOUT BINARY`. Of one that is longer than `TUPLE_MAX` the begin comes alone. */
export async function* copiedTuples(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let header = HEADER;
  // The tuple that a chunk has cut. Only that one is put together again: joining whole chunks costs more than all else.
  let cut: Buffer[] = [];
  let length = 0;
  let end = endOfCut();
  for await (const chunk of stream) {
    let at = Math.min(header, chunk.length);
    header -= at;
    if (length > 0) {
      const to = end(chunk, at);
      const part = chunk.subarray(at, to ?? chunk.length);
      if (length < TUPLE_MAX) cut.push(part);
      length += part.length;
      if (to === undefined) continue;
      yield Buffer.concat(cut);
      at = to;
    }
    let last = at;
    for (let next = tupleEnd(chunk, at); next !== undefined; next = tupleEnd(chunk, last)) last = next;
    if (last > at) yield chunk.subarray(at, last);
    [cut, length, end] = [[], 0, endOfCut()];
    if (last === chunk.length || isTrailer(chunk, last)) continue;
    cut.push(chunk.subarray(last));
    length = chunk.length - last;
    end(chunk, last);
  }
}

/** Follows one tuple through the chunks that it lies in: where it ends, undefined while it goes on. */
function endOfCut(): (chunk: Uint8Array, from: number) => number | undefined {
  let fields: number | undefined;
  let skipped = 0;
  let [number, bytes] = [0, 0];
  return (chunk, from) => {
    for (let at = from; ; ) {
      const skip = Math.min(skipped, chunk.length - at);
      at += skip;
      skipped -= skip;
      if (fields === 0 && skipped === 0) return at;
      if (at === chunk.length) return undefined;
      number = (number << 8) | (chunk[at] as number);
      at += 1;
      bytes += 1;
      if (bytes < (fields === undefined ? 2 : 4)) continue;
      if (fields === undefined) fields = number;
      else [fields, skipped] = [fields - 1, Math.max(0, number)];
      [number, bytes] = [0, 0];
    }
  };
}
