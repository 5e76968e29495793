import { userInfo } from "node:os";
import type { Context } from "../context.ts";
import { escapeControls } from "../output/escape.ts";
import { writeTo } from "../shell.ts";
import { planBrowser, startBrowser } from "./browser.ts";

interface Shown {
  /** That the browser will send its answer to. */
  readonly port: number;
  readonly mayOpen: boolean;
  /** What is done there, as a sentence begins with it. */
  readonly what: string;
}

/** Always prints the address on stderr, even with --quiet: without it nobody can go on. */
export async function showAddress({ shell }: Context, url: string, { port, mayOpen, what }: Shown): Promise<void> {
  const say = (text: string) => writeTo(shell, "stderr", `${escapeControls(text)}\n`);
  const plan = planBrowser(url, shell.env, process.platform);
  const started = mayOpen && "launches" in plan && (await startBrowser(plan.launches, shell.env));
  await say(started ? `${what} with the browser. If none opens, go to:` : `${what}: open this address in a browser`);
  await writeTo(shell, "stderr", `\n  ${escapeControls(url)}\n\n`);
  if (started) return;
  if (mayOpen && "launches" in plan) await say("No browser could be started");
  if (!("byHand" in plan)) return;
  const here = /^\S+ \d+ ([\w.:]+) \d+$/.exec(shell.env["SSH_CONNECTION"] ?? "")?.[1] ?? "this-machine";
  await say(
    "Where that browser runs on another machine, forward the port from there first:\n\n" +
      `  ssh -N -L ${port}:127.0.0.1:${port} ${userInfo().username}@${here}\n`,
  );
}
