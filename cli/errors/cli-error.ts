import { systemReason } from "#sdk/node/system-reason";
import type { ExitName } from "./exit-codes.ts";

export interface CliErrorFacts {
  exit: ExitName;
  /** Stable, upper-case: what a script looks at. */
  code: string;
  hint?: string | undefined;
  details?: unknown;
  cause?: unknown;
}

/** A failure that this program found itself. Its message is made for the person at the terminal. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exit: ExitName;
  readonly code: string;
  readonly hint: string | undefined;
  readonly details: unknown;

  constructor(message: string, { exit, code, hint, details, cause }: CliErrorFacts) {
    super(message, cause === undefined ? undefined : { cause });
    this.exit = exit;
    this.code = code;
    this.hint = hint;
    this.details = details;
  }
}

/** Wrong or missing input: exit 2, nothing was sent. */
export const usageError = (message: string, hint?: string, details?: unknown): CliError =>
  new CliError(message, { exit: "usage", code: "USAGE", hint, details });

/** The person said no, or could not be asked: exit 2. */
export const declined = (message: string, hint?: string): CliError =>
  new CliError(message, { exit: "usage", code: "DECLINED", hint });

/** No one can be asked: exits with 2 immediately and names everything that is missing. */
export const missingInput = (missing: readonly string[], hint?: string): CliError =>
  new CliError(`Missing: ${missing.join(", ")}`, {
    exit: "usage",
    code: "MISSING_INPUT",
    hint,
    details: missing.map((path) => ({ path, message: "is missing" })),
  });

/** A new file that a flag names cannot be made. Nothing that exists is written over. */
export const unwritable = (flag: string, path: string, error: unknown): CliError =>
  usageError(
    (error as NodeJS.ErrnoException).code === "EEXIST"
      ? `${flag}: ${path} exists already`
      : `${flag}: cannot write ${path}: ${systemReason(error)}`,
  );
