import type { RmmClient } from "#sdk/client";
import type { TokenPairAnswer } from "#sdk/session";
import { clientOf } from "../../client.ts";
import { type Context, openContext } from "../../context.ts";
import { missingInput, usageError } from "../../errors/cli-error.ts";
import { readSecrets } from "../../generic/secret-flags.ts";
import { isForPrograms, printResult } from "../../output/print.ts";
import { keychainOf, keychainProblem, noKeychain } from "../../profile/keychain.ts";
import { changeProfiles, checkProfileName, type StoreKind } from "../../profile/profiles.ts";
import { tokenStore } from "../../profile/token-store.ts";
import type { Register } from "../../program.ts";
import { prompterOf } from "../../prompt.ts";

interface Options {
  email?: string;
  store?: string;
  [name: string]: unknown;
}

/** `rmm auth login`: the tokens go to the keychain, or with `--store=file` to a file only the user can read. */
export const registerLogin: Register = (command, run) => {
  command
    .description("Sign in with email and password, and the second factor where there is one")
    .option("--email <email>", "your email address")
    .option("--password-file <path>", "read the password from a file")
    .option(
      "--password-stdin",
      "read the password from stdin; with --code-stdin it is the first line, the code the second",
    )
    .option("--code-file <path>", "read the second factor from a file: six digits or a recovery code")
    .option("--code-stdin", "read the second factor from stdin")
    .option("--store <where>", "keychain, or file: tokens in a file only you can read", "keychain")
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
`;

async function login(context: Context, options: Options): Promise<number> {
  const { shell, settings } = context;
  const store = storeOf(options.store);
  checkProfileName(settings.profile.value);
  const secrets = await readSecrets(context, ["password", "code"], options);
  requireInput(context, options.email, secrets);
  // Before the password is sent: a session that cannot be kept would be of no use.
  if (store === "keychain") {
    const problem = await keychainProblem(keychainOf(shell));
    if (problem !== undefined) throw noKeychain(problem);
  }
  const email = (options.email ?? (await prompterOf(shell).text("Email"))).trim().toLowerCase();
  const password = secrets.get("password") ?? (await askSecret(context, "Password"));
  const client = await context.client("none");
  const tokens = await signIn(context, client, { email, password }, secrets.get("code"));
  for (const secret of [tokens.accessToken, tokens.refreshToken]) shell.secrets.add(secret);
  await keep(context, email, store, tokens);
  const partner = await partnerName(context);
  if (partner !== undefined) await remember(context, email, store, partner);
  return report(context, email, store, tokens);
}

function storeOf(given = "keychain"): StoreKind {
  if (given !== "keychain" && given !== "file") throw usageError("--store must be keychain or file");
  return given;
}

function requireInput({ interactive }: Context, email: string | undefined, secrets: ReadonlyMap<string, string>): void {
  if (interactive) return;
  const missing = [
    ...(email === undefined ? ["--email"] : []),
    ...(secrets.has("password") ? [] : ["--password-file or --password-stdin"]),
  ];
  if (missing.length > 0) throw missingInput(missing);
}

async function askSecret({ shell }: Context, message: string): Promise<string> {
  const secret = await prompterOf(shell).secret(message);
  shell.secrets.add(secret);
  return secret;
}

type SignedIn = TokenPairAnswer & { mfaEnrollmentRequired: boolean; user: { scope: string } };

async function signIn(
  context: Context,
  client: RmmClient,
  body: { email: string; password: string },
  code: string | undefined,
): Promise<SignedIn> {
  const { signal } = context.shell;
  const answer = await client.sessions.login({ body }, { signal });
  if (!answer.mfaRequired) return answer;
  context.shell.secrets.add(answer.tempToken);
  if (code === undefined && !context.interactive)
    throw missingInput(["--code-file or --code-stdin"], "This account has a second factor");
  const given = code ?? (await askSecret(context, "Code of your second factor, or a recovery code")).trim();
  const method = /^\d{6}$/.test(given) ? "totp" : "recovery";
  return client.mfa.verify({ body: { tempToken: answer.tempToken, code: given, method } }, { signal });
}

/** Tokens first: a profile that names a sign-in without tokens would only confuse. */
async function keep(context: Context, account: string, store: StoreKind, tokens: TokenPairAnswer): Promise<void> {
  const { shell, settings } = context;
  const key = { server: settings.server.value, profile: settings.profile.value, account };
  const { accessToken, refreshToken, expiresIn } = tokens;
  const kept = tokenStore(shell, key, store);
  await kept.withLock(() => kept.write({ accessToken, refreshToken, expiresAtMs: shell.now() + expiresIn * 1000 }));
  await remember(context, account, store);
}

async function remember(
  { shell, settings }: Context,
  account: string,
  store: StoreKind,
  partner?: string,
): Promise<void> {
  await changeProfiles(shell, (book) => {
    const profile = book.profiles[settings.profile.value] ?? { signIns: {} };
    book.profiles[settings.profile.value] = profile;
    profile.server ??= settings.server.value;
    profile.signIns[settings.server.value] = { account, store, ...(partner === undefined ? {} : { partner }) };
  });
}

/** For the line before a write. An account that may not ask, or has no partner, goes without. */
async function partnerName({ shell, globals }: Context): Promise<string | undefined> {
  const fresh = await openContext(shell, { ...globals, debug: false });
  const signedIn = fresh.settings.stored.signIns[fresh.settings.server.value];
  if (signedIn === undefined) return undefined;
  const { account, store } = signedIn;
  const key = { server: fresh.settings.server.value, profile: fresh.settings.profile.value, account };
  const credentials = { store: tokenStore(shell, key, store) };
  const client = clientOf(fresh, { kind: "user", source: "login", account, credentials });
  const options = { signal: shell.signal, timeoutMs: 5_000, retries: 0 };
  return client.partners.getMine({}, options).then(
    ({ name }) => name,
    () => undefined,
  );
}

async function report(context: Context, account: string, store: StoreKind, tokens: SignedIn): Promise<number> {
  const { server, profile, stored } = context.settings;
  const { scope } = tokens.user;
  if (isForPrograms(context)) {
    const { mfaEnrollmentRequired } = tokens;
    const result = { server: server.value, profile: profile.value, account, store, scope, mfaEnrollmentRequired };
    await printResult(context, result, { fields: Object.keys(result) });
  }
  await context.notice(`Signed in to ${server.value} as ${account} (${scope}), profile ${profile.value}`);
  if (stored.server !== undefined && stored.server !== server.value) {
    await context.notice(`Profile ${profile.value} still goes to ${stored.server}: give --server, or add a profile`);
  }
  if (tokens.mfaEnrollmentRequired) await context.notice("A second factor is required: run `rmm auth mfa setup`");
  const other = await context.credential();
  if (other && other.account === undefined) await context.notice(`${other.source} is set and goes before this sign-in`);
  return 0;
}
