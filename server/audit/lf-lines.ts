import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";

const LF = 10;

/** A line, and how many bytes of the file it is without its LF: where one of them is no UTF-8, the text has another length. */
export interface MeasuredLine {
  readonly text: string;
  readonly bytes: number;
}

/**
 * Lines of a file or a part of it, ended by LF alone: `readline` also ends them at other characters, which of them depends
 * on the version of Node, and text inside a line may hold any of them. A last line without its LF is given too.
 */
export async function* measuredLines(
  path: string,
  range: { start?: number; end?: number } = {},
): AsyncGenerator<MeasuredLine> {
  for await (const line of lfSlices(createReadStream(path, range) as AsyncIterable<Buffer>))
    yield { text: line.toString("utf8"), bytes: line.length };
}

/**
 * The same of a file that others wrote, in gzip where its name ends in `.gz`: a byte that is no UTF-8 is an error with its
 * place, and nothing is replaced. `read` is told how many bytes of the file were read so far.
 */
export async function* soundLines(path: string, read?: (bytes: number) => void): AsyncGenerator<string> {
  let line = 0;
  for await (const bytes of lfSlices(bytesOf(path, read))) {
    line += 1;
    if (!isUtf8(bytes)) throw new Error(`line ${line} is not UTF-8`);
    yield bytes.toString("utf8");
  }
}

/** Packed bytes come inflated; what is cut off, or no gzip, is an error. */
async function* bytesOf(path: string, read?: (bytes: number) => void): AsyncGenerator<Buffer> {
  const file = createReadStream(path);
  const inflated = path.endsWith(".gz") ? createGunzip() : undefined;
  if (inflated) file.once("error", (error) => inflated.destroy(error));
  for await (const chunk of (inflated ? file.pipe(inflated) : file) as AsyncIterable<Buffer>) {
    read?.(file.bytesRead);
    yield chunk;
  }
}

export async function* lfLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  for await (const line of lfSlices(chunks)) yield line.toString("utf8");
}

async function* lfSlices(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // What earlier chunks hold of the line that goes on: only that line is put together again.
  let cut: Buffer[] = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, from)) {
      const tail = chunk.subarray(from, end);
      yield cut.length > 0 ? Buffer.concat([...cut, tail]) : tail;
      cut = [];
      from = end + 1;
    }
    if (from < chunk.length) cut.push(chunk.subarray(from));
  }
  if (cut.length > 0) yield Buffer.concat(cut);
}
