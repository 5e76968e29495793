import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors/cli-error.ts";
import { isColoured, styled } from "../../output/colour.ts";
import { isForPrograms } from "../../output/print.ts";
import { wrapWords } from "../../output/wrap.ts";
import { type Shell, writeTo } from "../../shell.ts";
import { plainEnv } from "./plain-env.ts";

export interface RunOptions {
  /** Instead of the words themselves, where the shell would do something with them. */
  typed?: string;
  stdin?: string;
  /** Lines of the answer to show at its beginning and end; all without it. */
  show?: { head: number; tail?: number };
  /** The answer goes to this file, only its owner's to read, as `>` would. */
  into?: string;
}

/** Runs a command line in this process and reports its errors. Returns its exit code. */
export type Rmm = (shell: Shell, argv: readonly string[]) => Promise<number>;

interface Place {
  dir: string;
  signal: AbortSignal;
  rmm: Rmm;
}

/** The output of the story: on stdout, or on stderr if stdout is for a program. */
export interface Transcript {
  heading(text: string): Promise<void>;
  text(text: string): Promise<void>;
  /** A command line, and an answer, that `run` does not make. */
  typed(line: string): Promise<void>;
  answer(text: string, show?: RunOptions["show"]): Promise<void>;
  /** Runs `rmm` with these words and shows both. Returns its stdout; throws when it fails. */
  run(words: readonly string[], options?: RunOptions): Promise<string>;
}

const WIDTH = 110;
const INDENT = /\S|$/;

/** Commands run in this process, with a terminal of its own, an environment of its own and profiles of their own. */
export function transcriptOf(context: Context, place: Place): Transcript {
  const { shell } = context;
  const stream = isForPrograms(context) ? "stderr" : "stdout";
  const coloured = isColoured(shell, stream);
  const width = shell.isTty[stream] ? Math.min(WIDTH, shell.columns) : WIDTH;
  const wrapped = (text: string) =>
    text
      .split("\n")
      .map((line) => wrapWords(line, width, line.search(INDENT)))
      .join("\n");
  let step = "";
  const put = (text: string) => writeTo(shell, stream, text);
  const transcript: Transcript = {
    heading: (text) => {
      step = text;
      return put(`\n${styled(`── ${text} ──`, "bold", coloured)}\n`);
    },
    text: (text) => put(`\n${wrapped(text)}\n`),
    typed: (line) => put(`\n${styled(`$ ${line}`, "cyan", coloured)}\n`),
    answer: (text, show) => put(shortened(text, show)),
    async run(words, options = {}) {
      await transcript.typed(options.typed ?? ["rmm", ...words.map(quoted)].join(" "));
      const ran = await runHere({ ...shell, columns: width }, words, options, place);
      await transcript.answer(ran.shown, options.show);
      if (ran.code !== 0) {
        throw new CliError(`${step}: \`rmm ${words.join(" ")}\` ended with ${ran.code}`, {
          exit: "failure",
          code: "QUICKSTART_FAILED",
          details: ran.stderr.trimEnd().split("\n").slice(-10),
        });
      }
      return ran.stdout;
    },
  };
  return transcript;
}

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
  /** Both streams, as a terminal would mix them. */
  shown: string;
}

async function runHere(
  shell: Shell,
  words: readonly string[],
  options: RunOptions,
  { dir, signal, rmm }: Place,
): Promise<Ran> {
  const ran: Ran = { code: 0, stdout: "", stderr: "", shown: "" };
  const sink = (name: "stdout" | "stderr") =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        ran[name] += chunk.toString("utf8");
        if (name === "stderr" || options.into === undefined) ran.shown += chunk.toString("utf8");
        done();
      },
    });
  const inner: Shell = {
    stdin: Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)]),
    ...{ stdout: sink("stdout"), stderr: sink("stderr") },
    isTty: { stdin: false, stdout: options.into === undefined, stderr: false },
    env: { ...plainEnv(shell.env), RMM_CONFIG_DIR: join(dir, "config"), NO_COLOR: "1" },
    ...{ columns: shell.columns, now: shell.now, signal, secrets: shell.secrets },
  };
  ran.code = await rmm(inner, words);
  if (options.into !== undefined) await writeFile(options.into, ran.stdout, { mode: 0o600, flag: "wx" });
  return ran;
}

const quoted = (word: string): string => (/^[\w./:@=,+-]+$/.test(word) ? word : `'${word}'`);

function shortened(text: string, show: RunOptions["show"]): string {
  const lines = text.trimEnd().split("\n");
  const { head, tail = 0 } = show ?? { head: lines.length };
  const hidden = lines.length - head - tail;
  if (text.trimEnd() === "") return "";
  if (hidden <= 0) return `${lines.join("\n")}\n`;
  const end = tail === 0 ? [] : lines.slice(-tail);
  return `${[...lines.slice(0, head), `… ${hidden} more lines`, ...end].join("\n")}\n`;
}
