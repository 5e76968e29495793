import type { TreeOf } from "./errors/as-typed.ts";
import { completed, givenIn } from "./errors/commands-to-type.ts";
import { describeError } from "./errors/describe-error.ts";
import { exitCode } from "./errors/exit-codes.ts";
import { reportError } from "./errors/report-error.ts";
import { wantsJson, wordsOf } from "./globals.ts";
import { givenSource } from "./profile/credential.ts";
import { OutputError, type Shell, writeTo } from "./shell.ts";

/** Reports what was thrown, secrets masked, and returns the exit code. */
export async function crash(shell: Shell, argv: readonly string[], error: unknown, treeOf?: TreeOf): Promise<number> {
  if (error instanceof OutputError && error.code === "EPIPE") return exitCode("ok");
  const given = givenIn(argv, wordsOf(argv));
  const { explained, withSource } = await import("./errors/explain.ts");
  const flags = { tokenFile: given["token-file"], tokenStdin: argv.includes("--token-stdin") };
  const told = await explained(describeError(error, shell.now()), error, given.org);
  const { asTyped } = await import("./errors/as-typed.ts");
  const named = await asTyped(told, { argv, forPrograms: wantsJson(argv), treeOf });
  const described = await withSource(named, error, givenSource(shell.env, flags));
  const exit = shell.signal.aborted && described.exit !== "unknown" ? "interrupted" : described.exit;
  const { hint } = described.error;
  if (hint !== undefined) described.error.hint = completed(hint, given);
  await reportError(shell, described, wantsJson(argv));
  if (argv.includes("--debug") && error instanceof Error) await reportStack(shell, error);
  return exitCode(exit);
}

/** The stack trace of an internal error. The stream masks secrets. */
async function reportStack(shell: Shell, error: Error): Promise<void> {
  await writeTo(shell, "stderr", `debug: ${error.stack ?? error.message}\n`).catch(() => undefined);
}
