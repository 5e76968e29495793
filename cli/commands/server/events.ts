import type { Command } from "commander";
import type { Retried, SetAside } from "#server/set-aside-events";
import { type Context, openContext } from "../../context.ts";
import { exitCode } from "../../errors/exit-codes.ts";
import { exitOfItems } from "../../errors/exit-of-items.ts";
import { printResult } from "../../output/print.ts";
import type { Run } from "../../register.ts";
import { tabular, takes } from "../../taken-flags.ts";
import { addPlaceFlags, installedConfig, type PlaceOptions } from "./server-config.ts";

interface Options extends PlaceOptions {
  retry?: boolean;
}

const columns = ["kind", "consumer", "occurredAt", "setAsideAt", "eventId"];

/** `rmm server events`: what could not be told, and telling it again once the cause is gone. */
export function registerEvents(group: Command, run: Run): void {
  const command = group.command("events").summary("Show events that could not be told, and tell them again");
  takes(command, ...tabular);
  addPlaceFlags(command)
    .description(
      "Show the events that were set aside because a consumer, such as the webhooks, failed at them ten times. With " +
        "--retry each is handed out once more; it is told after what happened later. Kept for a week",
    )
    .option("--retry", "hand them out again")
    .addHelpText("before", "Examples:\n  rmm server events\n  rmm server events --retry\n")
    .action(() =>
      run(async (shell, globals) =>
        events(await openContext(shell, globals, { mayBeNew: true }), command.opts<Options>()),
      ),
    );
}

async function events(context: Context, options: Options): Promise<number> {
  const config = await installedConfig(context.shell, options);
  const { readSetAside, retrySetAside } = await import("#server/set-aside-events");
  if (options.retry !== true) {
    const aside: SetAside[] = await readSetAside(config);
    await printResult(context, aside, { fields: columns });
    if (aside.length > 0) await context.notice("`rmm server events --retry` hands them out again");
    return 0;
  }
  const retried: Retried[] = await retrySetAside(config);
  await printResult(context, retried, { fields: ["outcome", "reason", ...columns] });
  const failed = retried.filter(({ outcome }) => outcome === "failed").map(() => "failure" as const);
  return exitCode(exitOfItems({ done: retried.length - failed.length, failed, skipped: 0, interrupted: false }));
}
