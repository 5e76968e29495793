import { createWriteStream } from "node:fs";
import { open, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Context } from "../../context.ts";
import { unwritable, usageError } from "../../errors/cli-error.ts";
import { isForPrograms, printResult } from "../../output/print.ts";
import { withProgress } from "../../output/spinner.ts";
import { incomplete, nodeBody, type Passed, watchBundle } from "./bundle-stream.ts";

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
  const query = orgId === undefined ? {} : { orgId };
  let passed: Passed;
  try {
    passed = await withProgress(context, "Exporting", async ({ say }) => {
      const { body } = await client.auditLogs.bundle({ query }, { signal: context.shell.signal }).asResponse();
      if (!body) throw new Error("the answer has no body");
      const watched = watchBundle((lines) => say(`${lines.toLocaleString("en-US")} lines written`));
      const packed = path.endsWith(".gz") ? createGzip() : new PassThrough();
      await pipeline(nodeBody(body), watched.through, packed, createWriteStream(path, { flags: "w" }));
      watched.passed.requireWhole();
      return watched.passed;
    });
  } catch (error) {
    await rm(path, { force: true });
    throw incomplete(error);
  }
  const sha256 = passed.sha256();
  const where = resolve(path);
  if (isForPrograms(context)) await printResult(context, { path: where, lines: passed.lines, sha256 }, { fields: [] });
  await context.notice(`${passed.lines} lines in ${where}`);
  await context.notice(`SHA-256 of the lines ${sha256}`);
  await context.notice(`Verify it with: \`rmm audit verify ${path} --trust anchors.pub\``);
  // Whoever hands over a bundle must not choose its keys too.
  await context.notice(
    `anchors.pub holds what \`rmm api GET /audit-logs/anchors -f each=true --jq '.publicKeys[]'\` prints, fetched another way or time than the bundle`,
  );
  return 0;
}
