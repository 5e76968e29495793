import { RmmError } from "#sdk/errors";
import { clientOf } from "../../client.ts";
import { type Context, openContext } from "../../context.ts";
import { isForPrograms, printResult } from "../../output/print.ts";
import { changeProfiles } from "../../profile/profiles.ts";
import { tokenStore } from "../../profile/token-store.ts";
import type { Register } from "../../register.ts";
import { calling, takes, valued } from "../../taken-flags.ts";

/** `rmm auth logout`: ends the session of this server and profile, and of no other. */
export const registerLogout: Register = (command, run) => {
  takes(command, ...valued, ...calling);
  command
    .description(
      "End the session on the server and delete its stored tokens. Other servers and profiles stay signed in",
    )
    .option("--all-sessions", "end your sessions on all machines too")
    .addHelpText(
      "before",
      "Examples:\n  rmm auth logout\n  rmm auth logout --server https://rmm.example --all-sessions\n",
    )
    .action(() =>
      run(async (shell, globals) => logout(await openContext(shell, globals), command.opts()["allSessions"] === true)),
    );
};

async function logout(context: Context, allSessions: boolean): Promise<number> {
  const { shell, settings } = context;
  const { server, profile, stored } = settings;
  const signIn = stored.signIns[server.value];
  if (signIn === undefined) {
    if (isForPrograms(context)) await printResult(context, { signedOut: false, server: server.value }, { fields: [] });
    await context.notice(`Not signed in to ${server.value} (profile ${profile.value}): nothing to do`);
    return 0;
  }
  const { account, store } = signIn;
  const kept = tokenStore(shell, { server: server.value, profile: profile.value, account }, store);
  const ended = await endSession(context, account, kept, allSessions);
  await kept.withLock(() => kept.clear());
  await changeProfiles(shell, (book) => {
    delete book.profiles[profile.value]?.signIns[server.value];
  });
  const result = { signedOut: true, server: server.value, profile: profile.value, account, sessionEnded: ended };
  if (isForPrograms(context)) await printResult(context, result, { fields: Object.keys(result) });
  await context.notice(`Signed out of ${server.value} (${account}, profile ${profile.value})`);
  if (!ended) await context.notice("The server could not be reached; the session expires within seven days");
  return 0;
}

/** The tokens are deleted whatever the server answers. */
async function endSession(
  context: Context,
  account: string,
  store: ReturnType<typeof tokenStore>,
  allSessions: boolean,
): Promise<boolean> {
  const client = clientOf(context, { kind: "user", source: "logout", account, credentials: { store } });
  try {
    await client.sessions.logout({ body: { allSessions } }, { signal: context.shell.signal });
    return true;
  } catch (error) {
    if (error instanceof RmmError) return error.status === 401;
    throw error;
  }
}
