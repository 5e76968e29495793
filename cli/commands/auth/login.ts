import { canonicalEmail } from "#contract/core/email";
import type { RmmClient } from "#sdk/client";
import { type Context, openContext } from "../../context.ts";
import { missingInput, usageError } from "../../errors/cli-error.ts";
import { readSecrets } from "../../generic/secret-flags.ts";
import { prompterOf } from "../../prompt.ts";
import type { Register } from "../../register.ts";
import { keepSignIn, readyStore, storeHelp } from "../../sign-in/keep-sign-in.ts";
import { askSecret, proveFactor } from "../../sign-in/prove-factor.ts";
import { reportSignIn } from "../../sign-in/report-sign-in.ts";
import { calling, takes, valued } from "../../taken-flags.ts";

interface Options {
  email?: string;
  store?: string;
  sso?: boolean;
  partner?: string;
  /** False with `--no-browser`. */
  browser?: boolean;
  [name: string]: unknown;
}

/** `rmm auth login`: the tokens go to the keychain, or with `--store=file` to a file only the user can read. */
export const registerLogin: Register = (command, run) => {
  takes(command, ...valued, ...calling, "org");
  command
    .description(
      "Sign in with email and password, and the second factor where there is one. With --sso a browser signs you in " +
        "through your identity provider",
    )
    .option("--email <email>", "your email address; with --sso its domain says where you sign in")
    .option("--password-file <path>", "read the password from a file")
    .option(
      "--password-stdin",
      "read the password from stdin; with --code-stdin it is the first line, the code the second",
    )
    .option("--code-file <path>", "read the second factor from a file: six digits or a recovery code")
    .option("--code-stdin", "read the second factor from stdin")
    .option("--sso", "sign in through the identity provider of --email, --org or --partner, else of the server")
    .option("--partner <partner>", "with --sso: the partner whose identity provider signs you in: its id")
    .option("--no-browser", "with --sso: only print the address to open")
    .option("--store <where>", storeHelp)
    .addHelpText("before", examples)
    .action(() =>
      run(async (shell, globals) =>
        login(await openContext(shell, globals, { mayBeNew: true }), command.opts<Options>()),
      ),
    );
};

const examples = `Examples:
  rmm auth login --server https://rmm.example
  rmm auth login --email ana@contoso.example --password-stdin --store=file < password.txt
  rmm auth login --profile prod --server https://rmm.example
  rmm auth login --sso --email ana@contoso.example
  rmm auth login --sso --org 8c1f0c52-6f0e-4a39-9d0b-4c1f3f0e2a11 --no-browser
`;

async function login(context: Context, options: Options): Promise<number> {
  if (options.sso) {
    refuseBeside(options, ["passwordFile", "passwordStdin", "codeFile", "codeStdin"], "does not go with --sso");
    const { signInThroughProvider } = await import("../../single-sign-on/sign-in.ts");
    return signInThroughProvider(context, options);
  }
  refuseBeside(options, ["partner", ...(options.browser === false ? ["browser"] : [])], "goes with --sso only");
  if (context.globals.org !== undefined) throw usageError("--org goes with --sso only");
  return passwordLogin(context, options);
}

function refuseBeside(options: Options, names: readonly string[], reason: string): void {
  for (const name of names) {
    if (options[name] === undefined) continue;
    const flag = name === "browser" ? "no-browser" : name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw usageError(`--${flag} ${reason}`);
  }
}

async function passwordLogin(context: Context, options: Options): Promise<number> {
  const { shell } = context;
  const secrets = await readSecrets(context, ["password", "code"], options);
  requireInput(context, options.email, secrets);
  const store = await readyStore(context, options.store);
  const typed = options.email ?? (await prompterOf(shell).text("Email"));
  const account = canonicalEmail(typed) ?? typed.trim().toLowerCase();
  const password = secrets.get("password") ?? (await askSecret(context, "Password"));
  const client = await context.client("none");
  const tokens = await signIn(context, client, { email: account, password }, secrets.get("code"));
  await keepSignIn(context, { account, store, tokens });
  const { mfaEnrollmentRequired, user } = tokens;
  return reportSignIn(context, { account, store }, { scope: user.scope, mfaEnrollmentRequired });
}

function requireInput({ interactive }: Context, email: string | undefined, secrets: ReadonlyMap<string, string>): void {
  if (interactive) return;
  const missing = [
    ...(email === undefined ? ["--email"] : []),
    ...(secrets.has("password") ? [] : ["--password-file or --password-stdin"]),
  ];
  if (missing.length > 0) throw missingInput(missing);
}

async function signIn(
  context: Context,
  client: RmmClient,
  body: { email: string; password: string },
  code: string | undefined,
) {
  const { signal } = context.shell;
  const answer = await client.sessions.login({ body }, { signal });
  if (!answer.mfaRequired) return answer;
  return proveFactor(context, client, answer.tempToken, code);
}
