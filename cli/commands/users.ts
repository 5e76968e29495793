import { type Context, openContext } from "../context.ts";
import { commandsOf } from "../generic/commands-of.ts";
import { runEndpoint } from "../generic/run-endpoint.ts";
import type { StoreKind } from "../profile/profiles.ts";
import type { Register } from "../register.ts";
import { keepSignIn, readyStore } from "../sign-in/keep-sign-in.ts";
import { reportSignIn } from "../sign-in/report-sign-in.ts";

/** Lets `rmm users accept-invite` sign the person in, as `rmm auth login` does. */
export const extendUsers: Register = async (group, run) => {
  const accept = group.commands.find((one) => one.name() === "accept-invite")!;
  const spec = (await commandsOf("users")).find((one) => one.name === "accept-invite")!;
  accept
    .option("--store <where>", "keychain, or file: tokens in a file only you can read", "keychain")
    .addHelpText("after", help)
    .action(() =>
      run(async (shell, globals) => {
        const context = await openContext(shell, globals, { mayBeNew: true });
        const options = accept.opts();
        const given = { args: [], options };
        if (options["secretFile"] !== undefined || globals.dryRun) return runEndpoint(context, spec, given);
        const store = await readyStore(context, options["store"]);
        const finish = (result: unknown) => signIn(context, store, result as Accepted);
        return runEndpoint(context, spec, { ...given, finish });
      }),
    );
};

const help = `
You are signed in then, as by \`rmm auth login\`: no token is printed. With --secret-file the tokens go there instead,
for another machine, and you are not signed in here.
`;

interface Accepted {
  accessToken: string;
  refreshToken: string;
  expiresIn: number;
  mfaEnrollmentRequired: boolean;
  user: { email: string; scope: string };
}

async function signIn(context: Context, store: StoreKind, accepted: Accepted) {
  const { accessToken, refreshToken, ...shown } = accepted;
  const { expiresIn, mfaEnrollmentRequired, user } = shown;
  await keepSignIn(context, { account: user.email, store, tokens: { accessToken, refreshToken, expiresIn } });
  return reportSignIn(context, { account: user.email, store }, { scope: user.scope, mfaEnrollmentRequired }, shown);
}
