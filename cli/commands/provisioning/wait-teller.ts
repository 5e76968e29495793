import type { Context } from "../../context.ts";
import { durationText } from "../../provisioning/budget.ts";

/** Many calls wait for the same moment, and a call for the same reason again and again. */
const SILENT_MS = 15_000;

/** Tells of the first wait for each reason at once, of later ones now and then. */
export function waitTeller(context: Context, again: string): (ms: number, why: string) => void {
  const silentUntil = new Map<string, number>();
  return (ms, why) => {
    const nowMs = context.shell.now();
    const until = silentUntil.get(why) ?? 0;
    if (nowMs < until && nowMs + ms < until + 2 * SILENT_MS) return;
    silentUntil.set(why, nowMs + Math.max(SILENT_MS, ms));
    const goOn = ms > 120_000 ? `. Ctrl-C is safe; go on with: \`${again}\`` : "";
    void context.notice(`Waiting ${durationText(Math.ceil(ms / 1000))}: ${why}${goOn}`);
  };
}
