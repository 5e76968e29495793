import type { Context } from "../context.ts";
import { isColoured } from "./colour.ts";
import { escapeControls } from "./escape.ts";

const PATIENCE_MS = 400;

const LINE_EVERY_MS = 5_000;

/** As `withSpinner`; where nobody sees a spinner, a line now and then says how far it is. */
export async function withProgress<T>(
  context: Context,
  text: string,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  if (context.shell.isTty.stderr) return withSpinner(context, text, work);
  const { now } = context.shell;
  let toldAt = now();
  return work({
    say: (next) => {
      if (now() - toldAt < LINE_EVERY_MS) return;
      toldAt = now();
      void context.notice(next);
    },
  });
}

const BAR_CELLS = 24;

/** `██████░░░░░░ 50 %`. */
export function progressBar(done: number, all: number): string {
  const share = all === 0 ? 1 : Math.min(1, done / all);
  const cells = Math.floor(share * BAR_CELLS);
  return `${"█".repeat(cells)}${"░".repeat(BAR_CELLS - cells)} ${Math.floor(share * 100)} %`;
}

/** Progress of a long operation. */
export interface Progress {
  say(text: string): void;
}

/**
 * Shows a spinner on stderr if the work takes longer than a moment: only on a terminal, and never with --quiet or
 * --debug, whose lines it would break up.
 */
export async function withSpinner<T>(
  context: Context,
  text: string,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  const { shell, globals } = context;
  if (!shell.isTty.stderr || globals.quiet || globals.debug) return work({ say: () => undefined });
  let said = text;
  let spinner: { text: string; stop(): unknown } | undefined;
  let over = false;
  const timer = setTimeout(async () => {
    const { default: ora } = await import("ora");
    const color = isColoured(shell, "stderr") ? ("cyan" as const) : (false as const);
    const made = ora({
      text: escapeControls(said),
      stream: shell.stderr as NodeJS.WriteStream,
      color,
      discardStdin: false,
    });
    if (!over) spinner = made.start();
  }, PATIENCE_MS);
  try {
    return await work({
      say: (next) => {
        said = next;
        if (spinner) spinner.text = escapeControls(next);
      },
    });
  } finally {
    over = true;
    clearTimeout(timer);
    spinner?.stop();
  }
}
