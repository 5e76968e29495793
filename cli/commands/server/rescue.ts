import type { Command } from "commander";
import { canonicalEmail } from "#contract/core/email";
import { type Context, openContext } from "../../context.ts";
import { CliError } from "../../errors/cli-error.ts";
import { requireShown, SECRET } from "../../generic/secret-shown.ts";
import { isForPrograms, printResult } from "../../output/print.ts";
import type { Run } from "../../register.ts";
import { writeTo } from "../../shell.ts";
import { takes, valued } from "../../taken-flags.ts";
import { addPlaceFlags, installedConfig, type PlaceOptions } from "./server-config.ts";

interface Options extends PlaceOptions {
  clearMfa?: boolean;
}

/** `rmm server rescue`: the last way into an account, for whoever holds the host. */
export function registerRescue(group: Command, run: Run): void {
  const command = group.command("rescue").summary("Let a locked-out user set a new password");
  takes(command, ...valued);
  addPlaceFlags(command)
    .argument("<email>", "whose account")
    .description(
      "Print a one-time link that sets a new password within an hour, also where single sign-on is enforced; the next " +
        "sign-in with it passes once. The person and the administrators above them are told by mail, and it is recorded",
    )
    .option("--clear-mfa", "remove the second factor too")
    .addHelpText(
      "before",
      "Examples:\n  rmm server rescue ana@contoso.example\n  rmm server rescue ana@contoso.example --clear-mfa\n",
    )
    .action((email: string) =>
      run(async (shell, globals) =>
        rescue(await openContext(shell, globals, { mayBeNew: true }), email, command.opts<Options>()),
      ),
    );
}

async function rescue(context: Context, given: string, options: Options): Promise<number> {
  const { shell } = context;
  const email = canonicalEmail(given) ?? given.trim().toLowerCase();
  const hint = "Choose url too: the link is shown once";
  await requireShown(context, { secrets: ["url"], sample: { email, url: SECRET }, hint });
  const { buildServices } = await import("#server/app");
  const { rescueAccount } = await import("#server/bootstrap");
  const config = await installedConfig(shell, options);
  const services = buildServices({ ...config, logLevel: "silent" });
  try {
    await services.store.migrate();
    const token = await rescueAccount(services, { email, clearMfa: options.clearMfa === true });
    if (token === undefined) {
      throw new CliError(`There is no active account with the email ${email}`, { exit: "notFound", code: "NOT_FOUND" });
    }
    const base = config.publicUrl ?? `http://127.0.0.1:${config.port}`;
    const url = `${base}/reset-password#token=${token}`;
    if (isForPrograms(context)) await printResult(context, { email, url }, { fields: ["email", "url"] });
    else await writeTo(shell, "stdout", `${url}\n`);
    await context.notice("It works once, within an hour. On the command line: `rmm passwords reset`, with the token");
  } finally {
    await services.store.close();
  }
  return 0;
}
