import { openContext } from "../../context.ts";
import { crash } from "../../crash.ts";
import { usageError } from "../../errors/cli-error.ts";
import type { Register } from "../../register.ts";
import type { Shell } from "../../shell.ts";
import { takes, valued } from "../../taken-flags.ts";

/** `rmm quickstart`: the whole job once, on a server of its own in a temporary folder. */
export const registerQuickstart: Register = (command, run, program) => {
  takes(command, ...valued);
  command
    .description(
      "Start a server on embedded SQLite in a temporary folder and do the main job with it: an administrator with a " +
        "second factor, a partner, a book of customers, enrollment keys, 50 simulated devices, and the proof of the " +
        "audit record. Each step shows what you would type and what it answers. Afterwards everything is removed",
    )
    .option("--keep", "leave server and data, and say where the login is and how to stop it")
    .option("--port <n>", "port of the server; 0 picks a free one", "0")
    .addHelpText("before", "Examples:\n  rmm quickstart\n  rmm quickstart --keep --port 3000\n")
    .action(() =>
      run(async (shell, globals) => {
        const options = command.opts<{ keep?: boolean; port: string }>();
        if (!/^\d{1,5}$/.test(options.port)) throw usageError("--port must be a whole number from 0 to 65535");
        const context = await openContext(shell, globals, { mayBeNew: true });
        const { quickstart } = await import("./quickstart.ts");
        const rmm = (inner: Shell, argv: readonly string[]) =>
          program.run(inner, argv).catch((error: unknown) => crash(inner, argv, error));
        return quickstart(context, { keep: options.keep === true, port: options.port, rmm });
      }),
    );
};
