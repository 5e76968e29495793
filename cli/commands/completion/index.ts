import { didYouMean } from "#contract/core/suggest";
import { openContext } from "../../context.ts";
import { missingInput, usageError } from "../../errors/cli-error.ts";
import { isForPrograms, printResult } from "../../output/print.ts";
import type { Register } from "../../register.ts";
import { writeTo } from "../../shell.ts";
import { takes, valued } from "../../taken-flags.ts";
import { scripts } from "./scripts.ts";

/** `rmm completion bash|zsh|fish|powershell` prints a script for the shell to load. */
export const registerCompletion: Register = (command, run) => {
  takes(command, ...valued);
  const names = Object.keys(scripts);
  command
    .description("Print a script that completes commands, flags, values, and names of organizations and sites")
    .argument("[shell]", names.join(", "))
    .usage("<shell>")
    .addHelpText(
      "before",
      "Examples:\n  source <(rmm completion bash)\n  rmm completion zsh > ~/.zfunc/_rmm\n  rmm completion fish | source\n" +
        "  rmm completion powershell | Out-String | Invoke-Expression\n",
    )
    .action((name: string | undefined) =>
      run(async (shell, globals) => {
        if (name === undefined) throw missingInput(["<shell>"], `Shells: ${names.join(", ")}`);
        const script = Object.hasOwn(scripts, name) ? scripts[name] : undefined;
        if (script === undefined)
          throw usageError(
            `There is no completion for ${name}${didYouMean(name, names)}`,
            `Shells: ${names.join(", ")}`,
          );
        const context = await openContext(shell, globals, { mayBeNew: true });
        if (isForPrograms(context))
          await printResult(context, { shell: name, script }, { fields: ["shell", "script"] });
        else await writeTo(shell, "stdout", script);
        return 0;
      }),
    );
};
