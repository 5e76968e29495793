import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Context } from "../../context.ts";
import { unwritable, usageError } from "../../errors/cli-error.ts";
import { isForPrograms, printResult } from "../../output/print.ts";
import { writeTo } from "../../shell.ts";

/**
 * Writes a document to stdout, or with `-o` to a file, which is replaced with --yes only. Of a file programs are told
 * where it is, with `facts` about it.
 */
export async function writeOutput(
  context: Context,
  text: string,
  path: string | undefined,
  facts: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const { shell, globals } = context;
  if (path === undefined || path === "-") return writeTo(shell, "stdout", text);
  try {
    await writeFile(path, text, { flag: globals.yes ? "w" : "wx" });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "EEXIST"
      ? usageError(`${path} exists already`, "Replace it with --yes, or choose another file")
      : unwritable("--output", path, error);
  }
  // A relative path begins where the command was typed, which may be another folder than was thought.
  const where = resolve(path);
  if (isForPrograms(context)) await printResult(context, { path: where, ...facts }, { fields: [] });
  await context.notice(`Written to ${where}`);
}
