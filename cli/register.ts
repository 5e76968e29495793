import type { Command } from "commander";
import type { Globals } from "./globals.ts";
import type { Shell } from "./shell.ts";

/** Runs the work of a command with its shell and global flags, and keeps its exit code. */
export type Run = (work: (shell: Shell, globals: Globals) => Promise<number>) => Promise<void>;

/** The whole program, passed to the few commands that inspect it or run another command of it. */
export interface Program {
  /** The command that is called in the group that is being added; undefined where all are shown. */
  readonly called?: string | undefined;
  /** The tree of commands, with the commands of one group. */
  tree(word: string | undefined): Promise<Command>;
  /** Parses a command line and runs it. Returns its exit code; throws what went wrong. */
  run(shell: Shell, argv: readonly string[]): Promise<number>;
}

/** Adds the commands of one group. */
export type Register = (group: Command, run: Run, program: Program) => void | Promise<void>;
