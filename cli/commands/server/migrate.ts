import type { Command } from "commander";
import { openContext } from "../../context.ts";
import { printResult } from "../../output/print.ts";
import type { Run } from "../../register.ts";
import { tabular, takes } from "../../taken-flags.ts";
import { addPlaceFlags, type PlaceOptions, serverConfig } from "./server-config.ts";

/** `rmm server migrate`: brings the schema up to date; safe beside running servers. */
export function registerMigrate(group: Command, run: Run): void {
  const command = group.command("migrate").summary("Bring the database schema up to date");
  takes(command, ...tabular);
  addPlaceFlags(command)
    .description(
      "Bring the database schema up to date. The server also does this when it starts; replicas wait for one another",
    )
    .addHelpText(
      "before",
      "Examples:\n  rmm server migrate\n  rmm server migrate --database-url postgres://localhost/rmm --json\n",
    )
    .action(() =>
      run(async (shell, globals) => {
        const context = await openContext(shell, globals, { mayBeNew: true });
        const config = await serverConfig(shell, command.opts<PlaceOptions>());
        const { migrateDatabase } = await import("#server/doctor");
        const applied = await migrateDatabase(config);
        const rows = applied.map((name) => ({ name }));
        await printResult(context, rows, { fields: ["name"] });
        await context.notice(applied.length === 0 ? "The schema is up to date" : `Applied ${applied.length}`);
        return 0;
      }),
    );
}
