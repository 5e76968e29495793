import type { Command } from "commander";
import { RmmError } from "#sdk/errors";
import { type Context, openContext } from "../context.ts";
import { commandToType } from "../errors/commands-to-type.ts";
import { withHint } from "../errors/hints.ts";
import { commandsOf } from "../generic/commands-of.ts";
import { runEndpoint } from "../generic/run-endpoint.ts";
import { cleanTyped, readSecrets } from "../generic/secret-flags.ts";
import type { StoreKind } from "../profile/profiles.ts";
import type { Register, Run } from "../register.ts";
import { keepSignIn, readyStore, storeHelp } from "../sign-in/keep-sign-in.ts";
import { askSecret, proveFactor } from "../sign-in/prove-factor.ts";
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
        const keeps = options["secretFile"] === undefined && !globals.dryRun;
        // A file that cannot be read is told before the invitation is accepted.
        const code = (await readSecrets(context, ["code"], options)).get("code");
        const store = keeps ? await readyStore(context, options["store"]) : undefined;
        const given = { args: [], options, secrets: await linkFirst(context, options) };
        if (store === undefined) return runEndpoint(context, spec, given);
        const finish = async (result: unknown) =>
          signIn(context, store, await finished(context, result as Accepted, code));
        return runEndpoint(context, spec, { ...given, finish });
      }),
    );
};

/** The link is judged before a password is chosen for it: nobody should think of one for an invitation that has ended. */
async function linkFirst(context: Context, options: Record<string, unknown>): Promise<ReadonlyMap<string, string>> {
  const secrets = await readSecrets(context, ["link", "password"], options);
  if (!context.interactive || context.globals.dryRun || options["file"] !== undefined || secrets.has("password"))
    return secrets;
  const link = secrets.get("link") ?? cleanTyped(context, "link", await askSecret(context, "the link, or its token"));
  const client = await context.client("none");
  const invited = await client.users.previewInvite({ body: { token: link } }, { signal: context.shell.signal });
  const { email, partnerName, orgName } = invited;
  await context.notice(`${email} is invited to ${[partnerName, orgName].filter(Boolean).join(" / ")}`);
  return new Map([...secrets, ["link", link]]);
}

async function sayHowToAccept(group: Command, run: Run, name: string): Promise<void> {
  const command = group.commands.find((one) => one.name() === name)!;
  const spec = (await commandsOf("users")).find((one) => one.name === name)!;
  command.addHelpText("after", inviteHelp).action(() =>
    run(async (shell, globals) => {
      const context = await openContext(shell, globals);
      const noteOn = (result: unknown) => howToAccept(context, result as { inviteUrl?: string | null });
      const options = command.opts();
      return runEndpoint(context, spec, { args: [], options, noteOn }).catch((error: unknown) => {
        throw error instanceof RmmError && error.code === "USER_EXISTS"
          ? withHint(error, resend(context, options))
          : error;
      });
    }),
  );
}

/** Who has not accepted yet is there already, and cannot be invited again. */
function resend({ globals }: Context, options: Record<string, unknown>): string {
  const { email, partner, partnerId, orgId = globals.org } = options as Readonly<Record<string, string | undefined>>;
  const command = commandToType(
    ["users", "resend-invite"],
    { user: email, partner: partner ?? partnerId, org: orgId },
    {},
  );
  return `Who has not accepted yet gets a new link: \`${command}\``;
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
async function finished(context: Context, accepted: Accepted, code: string | undefined): Promise<SignedIn> {
  if (!accepted.mfaRequired) return accepted;
  return proveFactor(context, await context.client("none"), accepted.tempToken, code);
}

async function signIn(context: Context, store: StoreKind, accepted: SignedIn) {
  const { accessToken, refreshToken, ...shown } = accepted;
  const { expiresIn, mfaEnrollmentRequired, user } = shown;
  await keepSignIn(context, { account: user.email, store, tokens: { accessToken, refreshToken, expiresIn } });
  return reportSignIn(context, { account: user.email, store }, { scope: user.scope, mfaEnrollmentRequired }, shown);
}
