import { setTimeout as pause } from "node:timers/promises";
import { escapeInvisible } from "#contract/core/characters";
import type { Elevation } from "#sdk/generated/models/index";
import type { Context } from "../../context.ts";
import { completed } from "../../errors/commands-to-type.ts";
import { describeError } from "../../errors/describe-error.ts";
import type { CommandSpec } from "../../manifest.ts";
import { isForPrograms } from "../../output/print.ts";
import { prompterOf } from "../../prompt.ts";
import { decide } from "./decide.ts";
import { described } from "./described.ts";
import { listenForKeys } from "./keys.ts";

/** What keys do while requests are watched. */
interface WatchKeys {
  begin(): Promise<void>;
  /** Until the time is over or a key has done its work, on what waits. */
  wait(ms: number, waiting: readonly Elevation[], signal: AbortSignal): Promise<void>;
  end(): void;
  isInterrupted(): boolean;
}

/** Undefined where nobody sits at the keyboard, or a program reads. */
export function keysOf(
  context: Context,
  { respond, quit }: { respond: CommandSpec; quit(): void },
): WatchKeys | undefined {
  if (!context.interactive || isForPrograms(context)) return undefined;
  let interrupted = false;
  let pressed: string | undefined;
  let wake = new AbortController();
  const keys = listenForKeys(context.shell, {
    typed(key) {
      if (key === "q") return quit();
      if (!"ads".includes(key)) return;
      pressed = key;
      wake.abort();
    },
    interrupted() {
      interrupted = true;
      quit();
    },
  });
  return {
    async begin() {
      await context.notice("Keys: a approves, d denies, s shows, q quits");
      keys.resume();
    },
    end: () => keys.pause(),
    isInterrupted: () => interrupted,
    async wait(ms, waiting, signal) {
      await pause(ms, undefined, { signal: AbortSignal.any([signal, wake.signal]) }).catch(() => undefined);
      const key = pressed;
      [pressed, wake] = [undefined, new AbortController()];
      if (key === undefined || signal.aborted) return;
      keys.pause();
      // A refusal, or a no, ends the decision and not the watch.
      await act(context, respond, key, waiting).catch(async (error: unknown) => {
        const { exit, error: described } = describeError(error);
        // Ctrl-C at a question comes as its failure, and means the watch as it does everywhere else.
        if (signal.aborted || exit === "interrupted") throw error;
        const { message, hint } = described;
        await context.notice(completed(hint === undefined ? message : `${message}. ${hint}`, context.globals.given));
      });
      keys.resume();
    },
  };
}

async function act(context: Context, respond: CommandSpec, key: string, waiting: readonly Elevation[]): Promise<void> {
  const request = await chosen(context, waiting);
  if (request === undefined) return context.notice("Nothing waits");
  if (key === "s") {
    for (const line of described(request, context.shell.now())) await context.notice(line);
    return;
  }
  // One key alone decides nothing, whatever --yes says: it may have been meant for another request.
  const asking = { ...context, globals: { ...context.globals, yes: false } };
  await decide(asking, respond, { ids: [request.id], decision: key === "a" ? "approve" : "deny", options: {} });
}

/** The one that waits; of several the one that is chosen, the oldest first. */
async function chosen(context: Context, waiting: readonly Elevation[]): Promise<Elevation | undefined> {
  if (waiting.length < 2) return waiting[0];
  const byLabel = new Map(waiting.map((request) => [labelOf(request), request]));
  return byLabel.get(await prompterOf(context.shell).choose("Which request?", [...byLabel.keys()]));
}

const labelOf = ({ id, deviceHostname, subjectUsername, targetExecutablePath, reason }: Elevation): string =>
  [deviceHostname, subjectUsername, targetExecutablePath ?? reason, id]
    .filter((part) => part !== null && part !== "")
    .map((part) => escapeInvisible(String(part)))
    .join("  ");
