import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { systemReason } from "#sdk/node/system-reason";
import type { Context } from "../../context.ts";
import { usageError } from "../../errors/cli-error.ts";
import { writeTo } from "../../shell.ts";

/** Writes a document to stdout, or with `-o` to a file, which is replaced with --yes only. */
export async function writeOutput(context: Context, text: string, path: string | undefined): Promise<void> {
  const { shell, globals } = context;
  if (path === undefined || path === "-") return writeTo(shell, "stdout", text);
  try {
    await writeFile(path, text, { flag: globals.yes ? "w" : "wx" });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "EEXIST"
      ? usageError(`${path} exists already`, "Replace it with --yes, or choose another file")
      : usageError(`--output: cannot write ${path}: ${systemReason(error)}`);
  }
  // A relative path begins where the command was typed, which may be another folder than was thought.
  await context.notice(`Written to ${resolve(path)}`);
}
