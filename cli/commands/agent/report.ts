import type { Summary } from "#fixtures/simulators/agent/counts";
import type { Context } from "../../context.ts";
import { isForPrograms, printResult } from "../../output/print.ts";
import { writeTo } from "../../shell.ts";

/** Events as lines of JSON, in their order, where a program reads them. */
export class Report {
  readonly #context: Context;
  readonly #broken = new AbortController();
  #writing: Promise<void> = Promise.resolve();

  constructor(context: Context) {
    this.#context = context;
  }

  /** Aborts when the output cannot be written. */
  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  get #isStream(): boolean {
    const { globals, shell } = this.#context;
    return globals.ndjson || (!isForPrograms(this.#context) && !shell.isTty.stdout);
  }

  tell(event: Record<string, unknown>): void {
    if (!this.#isStream || this.broken.aborted) return;
    const at = new Date(this.#context.shell.now()).toISOString();
    this.#writing = this.#writing
      .then(() => writeTo(this.#context.shell, "stdout", `${JSON.stringify({ at, ...event })}\n`))
      .catch((error: unknown) => this.#broken.abort(error));
  }

  async end(summary: Summary): Promise<void> {
    const { shell } = this.#context;
    this.tell({ event: "summary", ...summary });
    await this.#writing;
    if (this.#isStream) return;
    if (isForPrograms(this.#context)) await printResult(this.#context, summary, { fields: Object.keys(summary) });
    else await writeTo(shell, "stdout", `${lineOf(summary)}\n`);
  }
}

/** How far the fleet is, in one line. */
export const lineOf = (summary: Summary): string =>
  [
    `${summary.enrolled} of ${summary.devices} enrolled`,
    `${summary.online} online`,
    ...(summary.connected > 0 ? [`${summary.connected} connected`] : []),
    `${summary.heartbeats} heartbeats`,
    `${summary.claimed} claimed`,
    `${summary.answered} answered`,
    `${summary.refused} refused`,
    `p95 ${summary.heartbeatP95Ms ?? "-"} ms`,
  ].join(", ");
