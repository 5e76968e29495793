import { createReadStream } from "node:fs";

const LF = 10;

/**
 * Lines of a file, ended by LF alone: `readline` also ends them at other characters, which of them depends on the
 * version of Node, and text inside a line may hold any of them. A last line without its LF is given too.
 */
export async function* fileLines(path: string, range: { start?: number; end?: number } = {}): AsyncGenerator<string> {
  yield* lfLines(createReadStream(path, range) as AsyncIterable<Buffer>);
}

export async function* lfLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  // What earlier chunks hold of the line that goes on: only that line is put together again.
  let cut: Buffer[] = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, from)) {
      const tail = chunk.subarray(from, end);
      yield (cut.length > 0 ? Buffer.concat([...cut, tail]) : tail).toString("utf8");
      cut = [];
      from = end + 1;
    }
    if (from < chunk.length) cut.push(chunk.subarray(from));
  }
  if (cut.length > 0) yield Buffer.concat(cut).toString("utf8");
}
