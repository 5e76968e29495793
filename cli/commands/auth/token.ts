import { UserSession } from "#sdk/session";
import { type Context, getCredential, openContext } from "../../context.ts";
import { CliError } from "../../errors/cli-error.ts";
import { maskSecrets } from "../../generic/minted.ts";
import { isForPrograms, printResult } from "../../output/print.ts";
import type { Register } from "../../register.ts";
import { writeTo } from "../../shell.ts";
import { proving, takes, valued } from "../../taken-flags.ts";

/** `rmm auth token`: an access token for another program, renewed first if it is about to expire. */
export const registerToken: Register = (command, run) => {
  takes(command, ...valued, ...proving);
  command
    .description("Print an access token and nothing else, for programs such as curl. It expires within 15 minutes")
    .addHelpText(
      "before",
      'Examples:\n  curl -H "Authorization: Bearer $(rmm auth token)" https://rmm.example/api/v1/users/me\n',
    )
    .action(() => run(async (shell, globals) => token(await openContext(shell, globals))));
};

async function token(context: Context): Promise<number> {
  const accessToken = await accessTokenOf(context);
  await maskSecrets(context, [accessToken]);
  if (isForPrograms(context)) await printResult(context, { accessToken }, { fields: ["accessToken"] });
  else await writeTo(context.shell, "stdout", `${accessToken}\n`);
  return 0;
}

async function accessTokenOf(context: Context): Promise<string> {
  const { credentials, source } = await getCredential(context);
  if ("token" in credentials && typeof credentials.token === "string") return credentials.token;
  if (!("store" in credentials)) {
    throw new CliError(`${source} holds a key, not a user's token`, {
      exit: "unauthenticated",
      code: "WRONG_CREDENTIAL",
      hint: "Sign in with `rmm auth login`, or unset the variable that holds the key",
    });
  }
  const { signal } = context.shell;
  const client = await context.client("none");
  const refresh = (refreshToken: string) => client.sessions.refresh({ body: { refreshToken } }, { signal });
  return new UserSession(credentials.store, async (spent) => refresh(spent), context.shell.now).accessToken(signal);
}
