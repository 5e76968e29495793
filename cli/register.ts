import type { Command } from "commander";
import type { Globals } from "./globals.ts";
import type { Shell } from "./shell.ts";

/** Hands a command what it runs with, and keeps its exit code. */
export type Run = (work: (shell: Shell, globals: Globals) => Promise<number>) => Promise<void>;

/** The whole program, handed to the few commands that look at it or run another command of it. */
export interface Program {
  /** The tree of commands with one group filled in. */
  tree(word: string | undefined): Promise<Command>;
  /** Parses a command line and runs it. Returns its exit code; throws what went wrong. */
  run(shell: Shell, argv: readonly string[]): Promise<number>;
}

/** Fills one group of commands. */
export type Register = (group: Command, run: Run, program: Program) => void | Promise<void>;
