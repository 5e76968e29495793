import type { Readable, Writable } from "node:stream";
import { systemReason } from "#sdk/node/system-reason";
import type { Transport } from "#sdk/transport";
import { printable } from "./output/escape.ts";

/** Everything outside the process that the command uses. Tests replace it and read what was written. */
export interface Shell {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly isTty: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Width of the terminal. */
  readonly columns: number;
  now(): number;
  /** For the length of waits before another attempt; `Math.random` where it is left out. */
  readonly random?: () => number;
  /** Waits before another attempt, until the signal is aborted at the latest; a timer where it is left out. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** `--timeout`: the longest that any wait of this run may take. */
  readonly patienceMs?: number;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Strings that must never be written to stderr: every secret that was read is added. */
  readonly secrets: Set<string>;
  /** Replacements for node:http, the prompts and the keychain. */
  readonly transport?: Transport;
  readonly prompter?: Prompter;
  readonly keychain?: Keychain;
}

/** The prompts. Tests answer them with their own object. */
export interface Prompter {
  text(message: string): Promise<string>;
  /** Typed characters are not shown. */
  secret(message: string): Promise<string>;
  confirm(message: string): Promise<boolean>;
  choose(message: string, choices: readonly string[]): Promise<string>;
}

/** The operating system's store of secrets. */
export interface Keychain {
  get(account: string): Promise<string | undefined>;
  set(account: string, secret: string): Promise<void>;
  remove(account: string): Promise<void>;
}

/** The shell of the real process. */
export function processShell(signal: AbortSignal): Shell {
  const { stdout, stderr, env } = process;
  // Without a listener a closed pipe would crash the process; `writeTo` reports the failure instead.
  for (const stream of [stdout, stderr]) stream.on("error", () => undefined);
  return {
    // What is used costs a start some milliseconds.
    get stdin() {
      return process.stdin;
    },
    stdout,
    stderr,
    isTty: {
      get stdin() {
        return process.getBuiltinModule("node:tty").isatty(0);
      },
      get stdout() {
        return stdout.isTTY === true;
      },
      get stderr() {
        return process.stderr.isTTY === true;
      },
    },
    env,
    columns: stdout.columns || 80,
    now: Date.now,
    signal,
    secrets: new Set(),
  };
}

/**
 * Writes text and waits until the system has accepted it. Rejects with the system's error (`EPIPE`, `ENOSPC` …). All output
 * passes through here, which removes control characters and commands that the log of a CI pipeline would execute.
 */
export const writeTo = (shell: Shell, stream: "stdout" | "stderr", text: string): Promise<void> =>
  put(shell, stream, printable(stream === "stderr" ? withoutSecrets(text, shell.secrets) : text));

/** Text with a secret that only the user at the terminal may see. */
export const showSecretText = (shell: Shell, text: string): Promise<void> => put(shell, "stderr", printable(text));

/** A line such as `::add-mask::` that the log of a workflow must execute. */
export const writeToWorkflow = (shell: Shell, line: string): Promise<void> => put(shell, "stderr", line);

const put = (shell: Shell, stream: "stdout" | "stderr", text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    shell[stream].write(text, (error) => (error ? reject(new OutputError(stream, error)) : resolve()));
  });

/** Output that could not be written; `EPIPE` means that the reader closed the pipe. */
export class OutputError extends Error {
  override readonly name = "OutputError";
  readonly code: string | undefined;

  constructor(stream: "stdout" | "stderr", cause: NodeJS.ErrnoException) {
    super(`Cannot write to ${stream}: ${systemReason(cause)}`, { cause });
    this.code = cause.code;
  }
}

const MIN_SECRET = 4;

function withoutSecrets(text: string, secrets: ReadonlySet<string>): string {
  let safe = text;
  for (const secret of secrets) if (secret.length >= MIN_SECRET) safe = safe.replaceAll(secret, "********");
  return safe;
}

/** True if the user can be prompted: stdin and stderr are terminals and no setting forbids it. */
export const isInteractive = (shell: Shell, noInput: boolean): boolean =>
  shell.isTty.stdin && shell.isTty.stdout && !isUnattended(shell, noInput);

/** True if a flag or the environment says that no person is present. */
export const isUnattended = ({ env }: Pick<Shell, "env">, noInput: boolean): boolean =>
  noInput || isSet(env["CI"]) || isSet(env["RMM_NO_INPUT"]);

const isSet = (value: string | undefined): boolean =>
  value !== undefined && !["", "0", "false", "no"].includes(value.toLowerCase());
