import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { Transport } from "#sdk/transport";
import { main } from "./main.ts";
import type { Keychain, Prompter, Shell } from "./shell.ts";

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  env?: Record<string, string | undefined>;
  stdin?: string | Buffer | Readable;
  /** All three streams are terminals. */
  tty?: boolean;
  /** Answers to questions, in order. */
  answers?: readonly string[];
  /** Gets the questions that were asked. */
  asked?: string[];
  keychain?: Keychain;
  now?: () => number;
  signal?: AbortSignal;
  stdout?: Writable;
  transport?: Transport;
  /** Width of the terminal. */
  columns?: number;
}

export const NOW = Date.parse("2026-03-02T09:00:00.000Z");

/** A folder of its own for a test file, and the command run inside this process. */
export function testCommand() {
  const dir = mkdtempSync(join(tmpdir(), "rmm-cli-"));
  const configDir = join(dir, "config");
  const run = async (argv: readonly string[], options: RunOptions = {}): Promise<Ran> => {
    const written = { stdout: "", stderr: "" };
    const sink = (name: "stdout" | "stderr") =>
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          written[name] += chunk.toString("utf8");
          done();
        },
      });
    const tty = options.tty ?? false;
    const shell: Shell = {
      stdin:
        options.stdin instanceof Readable
          ? options.stdin
          : Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)]),
      stdout: options.stdout ?? sink("stdout"),
      stderr: sink("stderr"),
      isTty: { stdin: tty, stdout: tty, stderr: tty },
      env: { RMM_CONFIG_DIR: configDir, ...options.env },
      columns: options.columns ?? 160,
      now: options.now ?? (() => NOW),
      // Nothing is learned from the length of waits between attempts: `sender.test.ts` and the SDK's tests have that.
      random: () => 0,
      sleep: (_ms, signal) => pause(0, undefined, { signal }).catch(() => undefined),
      signal: options.signal ?? new AbortController().signal,
      secrets: new Set(),
      ...(options.answers === undefined ? {} : { prompter: scripted(options.answers, options.asked ?? []) }),
      keychain: options.keychain ?? noKeychainHere,
      ...(options.transport === undefined ? {} : { transport: options.transport }),
    };
    const code = await main(shell, argv);
    return { code, ...written };
  };
  return { dir, configDir, run, close: () => rmSync(dir, { recursive: true, force: true }) };
}

const refuse = async (): Promise<never> => {
  throw new Error("no keychain on this machine");
};
export const noKeychainHere: Keychain = { get: refuse, set: refuse, remove: refuse };

/** A keychain that keeps what it is given. */
export function memoryKeychain(entries = new Map<string, string>()): Keychain & { entries: Map<string, string> } {
  return {
    entries,
    get: async (account) => entries.get(account),
    set: async (account, secret) => void entries.set(account, secret),
    remove: async (account) => void entries.delete(account),
  };
}

function scripted(answers: readonly string[], asked: string[]): Prompter {
  const left = [...answers];
  const next = (question: string) => {
    asked.push(question);
    const answer = left.shift();
    if (answer === undefined) throw new Error("a question too many");
    return answer;
  };
  return {
    text: async (message) => next(message),
    secret: async (message) => next(message),
    confirm: async (message) => next(message) === "yes",
    choose: async (message) => next(message),
  };
}
