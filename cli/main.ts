import { crash } from "./crash.ts";
import { programFor, runProgram } from "./program.ts";
import type { Shell } from "./shell.ts";

/** Runs one command line in this process and returns its exit code. Throws nothing. */
export async function main(shell: Shell, argv: readonly string[]): Promise<number> {
  try {
    return await runProgram(shell, argv);
  } catch (error) {
    return crash(shell, argv, error, programFor);
  }
}
