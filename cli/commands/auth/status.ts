import { type Context, getCredential, openContext } from "../../context.ts";
import { printResult } from "../../output/print.ts";
import type { Register } from "../../register.ts";
import { proving, shaped, takes } from "../../taken-flags.ts";

/** `rmm auth status`: which credential is used, and whose it is. Exit 4 when there is no credential or it is refused. */
export const registerStatus: Register = (command, run) => {
  takes(command, ...shaped, ...proving);
  command
    .description("Show the server, the credential that is used and where it came from, and who that is")
    .addHelpText("before", "Examples:\n  rmm auth status\n  rmm auth status --json=account,source\n")
    .action(() => run(async (shell, globals) => status(await openContext(shell, globals))));
};

const fields = [
  "server",
  "profile",
  "source",
  "credential",
  "account",
  "name",
  "scope",
  "role",
  "mfaEnabled",
  "mfaSatisfied",
];

async function status(context: Context): Promise<number> {
  const { server, profile } = context.settings;
  const { kind, source } = await getCredential(context);
  const facts = { server: server.value, profile: profile.value, source, credential: kind };
  const who = kind === "user" ? await whoIs(context) : {};
  await printResult(context, { ...facts, ...who }, { fields });
  if (kind !== "user") await context.notice("The identity of a key cannot be looked up; the key was not tested");
  return 0;
}

async function whoIs(context: Context): Promise<Record<string, unknown>> {
  const client = await context.client();
  const me = await client.users.me({}, { signal: context.shell.signal });
  const { email, name, scope, roleName, mfaEnabled, mfaSatisfied } = me;
  return { account: email, name, scope, role: roleName, mfaEnabled, mfaSatisfied };
}
