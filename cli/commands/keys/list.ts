import { openContext } from "../../context.ts";
import { DEFAULT_LIMIT } from "../../generic/run-list.ts";
import { listedKeyColumns, listedKeyFields } from "../../keys/listed-key.ts";
import { selectKeys } from "../../keys/select-keys.ts";
import { checkFields, formatOf, printResult } from "../../output/print.ts";
import { withSpinner } from "../../output/spinner.ts";
import { PER_MINUTE } from "../../provisioning/budget.ts";
import { paced } from "../../provisioning/sender.ts";
import type { Register } from "../../register.ts";
import { proving, tabular, takes } from "../../taken-flags.ts";
import { addFilterOptions, type FilterOptions, filterOf, keysIn, scopeOf } from "./filters.ts";

/** `rmm keys list`: keys of every kind in one list, the oldest material first. */
export const registerKeysList: Register = (command, run) => {
  takes(command, ...tabular, ...proving, "org", "limit", "all");
  command.description(
    "List API keys, keys of service principals, partner keys and enrollment keys together: the oldest material first, " +
      "with --expiring what ends soonest first. No key's material is in it",
  );
  addFilterOptions(command);
  command
    .option("--revoked", "also keys that were revoked")
    .addHelpText("before", examples)
    .addHelpText("after", access)
    .action(() =>
      run(async (shell, globals) => {
        const context = await openContext(shell, globals);
        const options = command.opts<FilterOptions & { revoked?: boolean }>();
        const shape = { fields: listedKeyFields, columns: listedKeyColumns };
        checkFields(globals, shape);
        const filter = { ...filterOf(options), revoked: options.revoked };
        const rmm = await context.client();
        const { send } = paced({ perMinute: PER_MINUTE, signal: shell.signal, sleep: shell.sleep });
        const keys = await withSpinner(context, "Loading", async () =>
          keysIn(context, rmm, await scopeOf(context, rmm, options, send), send),
        );
        const found = selectKeys(keys, filter, shell.now());
        const shown = globals.all ? found : found.slice(0, globals.limit ?? DEFAULT_LIMIT);
        await printResult(context, shown, shape);
        if (found.length === 0 && formatOf(context) === "table") await context.notice("Nothing found");
        if (shown.length < found.length) await context.notice(`${shown.length} of ${found.length}; use --all`);
        return 0;
      }),
    );
};

const examples = `Examples:
  rmm keys list
  rmm keys list --expiring 14d --json
  rmm keys list --older-than 90d --kind api-key,service-principal --org contoso-dental
`;

const access = `
Filters add up. Needs organizations:read and a signed-in user; partner keys need
partner or system scope.
`;
