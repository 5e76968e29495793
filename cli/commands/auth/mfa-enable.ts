import type { Command } from "commander";
import { RmmError } from "#sdk/errors";
import { openContext } from "../../context.ts";
import { CliError } from "../../errors/cli-error.ts";
import { hintOfCode } from "../../errors/hints.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import type { CommandSpec } from "../../manifest.ts";
import type { Run } from "../../register.ts";

/** `rmm auth mfa enable`: a set-up that is missing may be one that was finished. */
export const enableOnce = (command: Command, spec: CommandSpec, run: Run): unknown =>
  command.action(() =>
    run(async (shell, globals) => {
      const context = await openContext(shell, globals);
      return runEndpoint(context, spec, { args: [], options: command.opts() }).catch(async (error: unknown) => {
        if (!(error instanceof RmmError) || error.code !== "NO_PENDING_MFA_SETUP") throw error;
        const { mfaEnabled } = await (await context.client()).users.me({}, { signal: shell.signal });
        if (!mfaEnabled) throw error;
        throw new CliError("The second factor is on already", {
          exit: "failure",
          code: "MFA_ALREADY_ENABLED",
          hint: hintOfCode("MFA_ALREADY_ENABLED"),
        });
      });
    }),
  );
