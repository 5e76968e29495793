import type { Command } from "commander";
import { type Context, openContext } from "../context.ts";
import { commandsOf } from "../generic/commands-of.ts";
import { runEndpoint } from "../generic/run-endpoint.ts";
import { readSecrets } from "../generic/secret-flags.ts";
import type { StoreKind } from "../profile/profiles.ts";
import type { Register, Run } from "../register.ts";
import { keepSignIn, readyStore, storeHelp } from "../sign-in/keep-sign-in.ts";
import { proveFactor } from "../sign-in/prove-factor.ts";
import { reportSignIn } from "../sign-in/report-sign-in.ts";

/**
 * Says how an invitation is accepted, and lets `rmm users accept-invite` sign the person in, as `rmm auth login` does.
 */
export const extendUsers: Register = async (group, run) => {
  for (const name of ["invite", "resend-invite"]) await sayHowToAccept(group, run, name);
  const accept = group.commands.find((one) => one.name() === "accept-invite")!;
  const spec = (await commandsOf("users")).find((one) => one.name === "accept-invite")!;
  accept
    .option("--store <where>", storeHelp)
    .option("--code-file <path>", "read the second factor of an account that has one from a file")
    .addHelpText("after", help)
    .action(() =>
      run(async (shell, globals) => {
        const context = await openContext(shell, globals, { mayBeNew: true });
        const options = accept.opts();
        const given = { args: [], options };
        if (options["secretFile"] !== undefined || globals.dryRun) return runEndpoint(context, spec, given);
        const store = await readyStore(context, options["store"]);
        const finish = async (result: unknown) =>
          signIn(context, store, await finished(context, result as Accepted, options));
        return runEndpoint(context, spec, { ...given, finish });
      }),
    );
};

async function sayHowToAccept(group: Command, run: Run, name: string): Promise<void> {
  const command = group.commands.find((one) => one.name() === name)!;
  const spec = (await commandsOf("users")).find((one) => one.name === name)!;
  command.addHelpText("after", inviteHelp).action(() =>
    run(async (shell, globals) => {
      const context = await openContext(shell, globals);
      const noteOn = (result: unknown) => howToAccept(context, result as { inviteUrl?: string | null });
      return runEndpoint(context, spec, { args: [], options: command.opts(), noteOn });
    }),
  );
}

/** The command stands alone: it is for another person, on another machine. */
const howToAccept = ({ settings }: Context, { inviteUrl }: { inviteUrl?: string | null }): string[] =>
  typeof inviteUrl === "string"
    ? [
        "Hand the link over. Who opens it reads what to type:",
        `  rmm users accept-invite --server ${settings.server.value}`,
      ]
    : [];

const inviteHelp = `
Where the server sends no mail, stdout is the link of the invitation. Whoever
has it types, and pastes it when asked:
  rmm users accept-invite --server <url>
`;

const help = `
You are signed in then, as by \`rmm auth login\`: no token is printed. With
--secret-file the tokens go there instead, for another machine, and you are not
signed in here.
`;

interface SignedIn {
  mfaRequired: false;
  accessToken: string;
  refreshToken: string;
  expiresIn: number;
  mfaEnrollmentRequired: boolean;
  user: { email: string; scope: string };
}

type Accepted = SignedIn | { mfaRequired: true; tempToken: string };

/** An account that has a second factor proves it before it becomes a member. */
async function finished(context: Context, accepted: Accepted, options: Record<string, unknown>): Promise<SignedIn> {
  if (!accepted.mfaRequired) return accepted;
  const code = (await readSecrets(context, ["code"], options)).get("code");
  return proveFactor(context, await context.client("none"), accepted.tempToken, code);
}

async function signIn(context: Context, store: StoreKind, accepted: SignedIn) {
  const { accessToken, refreshToken, ...shown } = accepted;
  const { expiresIn, mfaEnrollmentRequired, user } = shown;
  await keepSignIn(context, { account: user.email, store, tokens: { accessToken, refreshToken, expiresIn } });
  return reportSignIn(context, { account: user.email, store }, { scope: user.scope, mfaEnrollmentRequired }, shown);
}
