import { createHash } from "node:crypto";
import { Readable, Transform, type TransformCallback } from "node:stream";
import { CliError } from "../../errors/cli-error.ts";

/** The last line of a bundle; without it a file is none. */
const END = /\n\{"type":"end",[^\n]*\}\n$/;
const TAIL = 1_000;

/** What has passed of a bundle. */
export interface Passed {
  readonly lines: number;
  /** Hex SHA-256 of the lines; once. */
  sha256(): string;
  /** Throws unless the last line has passed. */
  requireWhole(): void;
}

/** Passes a bundle on as it comes, and counts. */
export function watchBundle(told?: (lines: number) => void): { through: Transform; passed: Passed } {
  const hash = createHash("sha256");
  let lines = 0;
  let tail = "";
  const through = new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
      hash.update(chunk);
      tail = (tail + chunk.subarray(-TAIL).toString("latin1")).slice(-TAIL);
      told?.(lines);
      done(null, chunk);
    },
  });
  const passed: Passed = {
    get lines() {
      return lines;
    },
    sha256: () => hash.digest("hex"),
    requireWhole() {
      if (!END.test(tail)) throw incomplete(new Error("it ended before its last line"));
    },
  };
  return { through, passed };
}

/** The body of an answer as a stream of Node. */
export const nodeBody = (body: ReadableStream<Uint8Array>): Readable =>
  Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);

/** Why there is no whole bundle; an error of this program or the system stays what it is. */
export function incomplete(error: unknown): unknown {
  if (error instanceof CliError || (error as { code?: unknown }).code !== undefined) return error;
  return new CliError(`No whole bundle was written: ${(error as Error).message}`, {
    exit: "failure",
    code: "BUNDLE_INCOMPLETE",
    cause: error,
  });
}
