import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { open, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { PassThrough, Readable, Transform, type TransformCallback } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Context } from "../../context.ts";
import { CliError, unwritable, usageError } from "../../errors/cli-error.ts";
import { isForPrograms, printResult } from "../../output/print.ts";

/** The last line of a bundle; without it a file is none. */
const END = /\n\{"type":"end",[^\n]*\}\n$/;
const TAIL = 1_000;

/**
 * Writes the chain of an organization as a bundle to a new file, as it comes, in gzip where the name ends in `.gz`
 * (docs/audit.md, "Bundles"). A file that is not whole is removed again. Returns the exit code.
 */
export async function exportBundleFile(context: Context, path: string, orgId: string | undefined): Promise<number> {
  const client = await context.client();
  const made = await open(path, "wx", 0o600).catch((error: unknown) => {
    throw (error as NodeJS.ErrnoException).code === "EEXIST"
      ? usageError(`${path} exists already`, "A bundle may be evidence: choose another file")
      : unwritable("--bundle", path, error);
  });
  await made.close();
  const seen = { lines: 0, sha256: createHash("sha256"), tail: "" };
  try {
    const query = orgId === undefined ? {} : { orgId };
    const { body } = await client.auditLogs.bundle({ query }, { signal: context.shell.signal }).asResponse();
    if (!body) throw new Error("the answer has no body");
    const plain = Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);
    const packed = path.endsWith(".gz") ? createGzip() : new PassThrough();
    await pipeline(plain, watching(seen), packed, createWriteStream(path, { flags: "w" }));
    if (!END.test(seen.tail)) throw new Error("it ended before its last line");
  } catch (error) {
    await rm(path, { force: true });
    if (error instanceof CliError || (error as { code?: unknown }).code !== undefined) throw error;
    throw new CliError(`No bundle was written: ${(error as Error).message}`, {
      exit: "failure",
      code: "BUNDLE_INCOMPLETE",
      cause: error,
    });
  }
  const sha256 = seen.sha256.digest("hex");
  const where = resolve(path);
  if (isForPrograms(context)) await printResult(context, { path: where, lines: seen.lines, sha256 }, { fields: [] });
  await context.notice(`${seen.lines} lines in ${where}`);
  await context.notice(`SHA-256 of the lines ${sha256}`);
  await context.notice(`Verify it with: \`rmm audit verify ${path} --trust anchors.pub\``);
  return 0;
}

interface Seen {
  lines: number;
  readonly sha256: ReturnType<typeof createHash>;
  tail: string;
}

/** Passes everything on, and counts. */
const watching = (seen: Seen): Transform =>
  new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      for (const byte of chunk) if (byte === 10) seen.lines += 1;
      seen.sha256.update(chunk);
      seen.tail = (seen.tail + chunk.subarray(-TAIL).toString("latin1")).slice(-TAIL);
      done(null, chunk);
    },
  });
