import type { Command } from "commander";
import { openContext } from "../../context.ts";
import { completed } from "../../errors/commands-to-type.ts";
import { exitCode } from "../../errors/exit-codes.ts";
import { printResult } from "../../output/print.ts";
import type { Run } from "../../register.ts";
import { tabular, takes } from "../../taken-flags.ts";
import type { Check } from "./check.ts";
import { databaseChecks } from "./check-database.ts";
import { machineChecks } from "./check-machine.ts";
import { addPlaceFlags, type PlaceOptions, placeEnv, serverConfig } from "./server-config.ts";

/** `rmm server doctor`: looks at everything a server needs and leaves it as it was. Exit 1 when something fails. */
export function registerDoctor(group: Command, run: Run): void {
  const command = group.command("doctor").summary("Check this machine and the database for a server");
  takes(command, ...tabular);
  addPlaceFlags(command)
    .description(
      "Check Node, the data folder, the SQLite driver, the database, its migrations and roles, whether it takes writes, the keychain and the clock. Leaves everything as it was",
    )
    .addHelpText(
      "before",
      "Examples:\n  rmm server doctor\n  rmm server doctor --database-url postgres://localhost/rmm --json\n",
    )
    .action(() =>
      run(async (shell, globals) => {
        const context = await openContext(shell, globals, { mayBeNew: true });
        const options = command.opts<PlaceOptions>();
        const dataDir = options.dataDir || shell.env["RMM_DATA_DIR"] || "./.rmm";
        const env = placeEnv(shell, options);
        const databaseUrl = env["DATABASE_URL"] || undefined;
        const systemDatabaseUrl = env["SYSTEM_DATABASE_URL"] || undefined;
        const trusted = env["TRUST_PROXY_HEADERS"];
        const checks = [
          ...(await machineChecks(shell, dataDir)),
          ...(await configCheck(() => serverConfig(shell, options), dataDir)),
          ...(await databaseChecks(shell, { dataDir, databaseUrl, systemDatabaseUrl, trusted })),
        ];
        const told = checks.map(({ remedy, ...check }) => ({
          ...check,
          ...(remedy === undefined ? {} : { remedy: completed(remedy, globals.given) }),
        }));
        await printResult(context, told, { fields: ["check", "status", "message", "remedy"], keep: ["status"] });
        return exitCode(checks.some(({ status }) => status === "fail") ? "failure" : "ok");
      }),
    );
}

/** Reading the configuration makes secrets where there are none, so a folder that is not there yet is left alone. */
async function configCheck(read: () => Promise<unknown>, dataDir: string): Promise<Check[]> {
  const { existsSync } = await import("node:fs");
  const { join } = await import("node:path");
  if (!existsSync(join(dataDir, "secrets.json"))) {
    return [{ check: "settings", status: "skip", message: "the server has not been started here yet" }];
  }
  try {
    await read();
    return [{ check: "settings", status: "ok", message: "every setting can be read" }];
  } catch (error) {
    return [
      { check: "settings", status: "fail", message: (error as Error).message, remedy: "Correct the variable it names" },
    ];
  }
}
