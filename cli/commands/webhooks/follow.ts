import { setTimeout as pause } from "node:timers/promises";
import type { WebhookDelivery } from "#sdk/generated/models/index";
import { type Context, openContext } from "../../context.ts";
import { usageError } from "../../errors/cli-error.ts";
import { exitCode } from "../../errors/exit-codes.ts";
import { checkCredential } from "../../generic/check-credential.ts";
import { commandsOf } from "../../generic/commands-of.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import { checkFields } from "../../output/print.ts";
import type { Register } from "../../register.ts";
import { writeTo } from "../../shell.ts";
import { attempt, inSeconds, type LineColumn, lineColumnsOf, lineOf, milliseconds } from "./line-of.ts";

const EVERY_MS = 2_000;
/** Of the past, to begin with. */
const FIRST = 10;

/** `rmm webhooks deliveries ID --follow`: a line for each delivery, and again when it changes. */
export const followDeliveries: Register = async (group, run) => {
  const command = group.commands.find((one) => one.name() === "deliveries")!;
  const spec = (await commandsOf("webhooks")).find((one) => one.name === "deliveries")!;
  command
    .option("--follow", "go on with what is new or changes, until Ctrl-C")
    .addHelpText(
      "after",
      "\n--follow prints a line for each delivery and each change of one; with --json or\n--ndjson an object.\n",
    )
    .action((id: string | undefined) =>
      run(async (shell, globals) => {
        const context = await openContext(shell, globals);
        const { follow, ...options } = command.opts();
        if (!follow) return runEndpoint(context, spec, { args: [id], options });
        if (globals.jq !== undefined)
          throw usageError("--follow has no end that --jq could wait for: pipe --ndjson to jq");
        if (id === undefined) return runEndpoint(context, spec, { args: [], options });
        checkFields(globals, { fields: spec.fields });
        await checkCredential(context, spec);
        const { status, event } = options as { status?: WebhookDelivery["status"]; event?: string };
        return follows(context, id, {
          columns: lineColumnsOf(spec, says),
          query: { ...(status && { status }), ...(event && { event }) },
        });
      }),
    );
};

const says = {
  attempts: attempt,
  responseTimeMs: milliseconds,
  nextAttemptAt: (time: string) => `again at ${inSeconds(time)}`,
};

interface Asked {
  columns: readonly LineColumn[];
  query: { status?: WebhookDelivery["status"]; event?: string };
}

async function follows(context: Context, id: string, { columns, query }: Asked): Promise<number> {
  const { signal } = context.shell;
  const client = await context.client();
  const shown = new Map<string, string>();
  for (let first = true; !signal.aborted; first = false) {
    const latest: WebhookDelivery[] = [];
    const open = new Set([...shown].flatMap(([one, state]) => (isSettled(state) ? [] : [one])));
    const limit = first ? FIRST : 1_000;
    const list = client.webhooks.deliveries(
      { params: { id }, query: { ...query, limit: first ? FIRST : 100 } },
      { signal },
    );
    for await (const delivery of list) {
      latest.push(delivery);
      open.delete(delivery.id);
      const known = shown.get(delivery.id);
      if (latest.length >= limit || (open.size === 0 && known !== undefined && isSettled(known))) break;
    }
    for (const delivery of latest.reverse()) {
      const state = `${delivery.status} ${delivery.attempts}`;
      if (shown.get(delivery.id) === state) continue;
      shown.set(delivery.id, state);
      await writeTo(context.shell, "stdout", `${lineOf(context, delivery, columns)}\n`);
    }
    await pause(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  return exitCode("interrupted");
}

const isSettled = (state: string): boolean => /^(delivered|failed)/.test(state);
