import type { Command } from "commander";
import { elevationStatuses } from "#contract/core/elevation";
import { type Context, openContext } from "../../context.ts";
import { parseDuration } from "../../duration.ts";
import { exitCode } from "../../errors/exit-codes.ts";
import { checkCredential } from "../../generic/check-credential.ts";
import type { CommandSpec } from "../../manifest.ts";
import { checkFields, printResult } from "../../output/print.ts";
import type { Run } from "../../register.ts";
import { proving, shaped, takes } from "../../taken-flags.ts";

const columns = ["status", "requests"];
const DAYS_30_MS = 30 * 86_400_000;

/** `rmm pam stats`: how many requests came, by what has become of them. */
export function registerStats(command: Command, run: Run, list: CommandSpec): void {
  takes(command, ...shaped, "no-header", ...proving)
    .description("Count requests for elevated rights by their status")
    .option("--since <duration>", "of how long a time, back from now (default 30d)")
    .addHelpText("before", "Examples:\n  rmm pam stats\n  rmm pam stats --since 7d --json\n")
    .addHelpText("after", "\nPermission: devices:read\nCredential: user\n")
    .action(() => run(async (shell, globals) => stats(await openContext(shell, globals), list, command.opts())));
}

async function stats(context: Context, list: CommandSpec, { since }: { since?: string }): Promise<number> {
  const backMs = since === undefined ? DAYS_30_MS : parseDuration(since, "--since");
  checkFields(context.globals, { fields: columns });
  await checkCredential(context, list);
  const client = await context.client();
  const { signal, now } = context.shell;
  const from = new Date(now() - backMs).toISOString();
  const rows = [];
  for (const status of elevationStatuses) {
    const { total } = await client.elevationRequests.list({ query: { status, from, limit: 1 } }, { signal });
    rows.push({ status, requests: total ?? 0 });
  }
  await printResult(context, rows, { fields: columns, columns });
  return exitCode("ok");
}
