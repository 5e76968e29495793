import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
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
  await writeFile(path, text, { flag: globals.yes ? "w" : "wx" }).catch((error: unknown) => {
    throw refusalOf(path, error);
  });
  // A relative path begins where the command was typed, which may be another folder than was thought.
  const where = resolve(path);
  if (isForPrograms(context)) await printResult(context, { path: where, ...facts }, { fields: [] });
  await context.notice(`Written to ${where}`);
}

/** Refuses a file that could not be written, before anything is asked of the server that it would hold. */
export async function refuseUnwritable({ globals }: Context, path: string | undefined): Promise<void> {
  if (path === undefined || path === "-") return;
  const wasThere = existsSync(path);
  try {
    await writeFile(path, "", { flag: globals.yes ? "a" : "wx" });
  } catch (error) {
    throw refusalOf(path, error);
  }
  if (!wasThere) await rm(path);
}

const refusalOf = (path: string, error: unknown) =>
  (error as NodeJS.ErrnoException).code === "EEXIST"
    ? usageError(`${path} exists already`, "Replace it with --yes, or choose another file")
    : unwritable("--output", path, error);
