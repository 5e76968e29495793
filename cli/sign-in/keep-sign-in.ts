import type { TokenPairAnswer } from "#sdk/session";
import { clientOf } from "../client.ts";
import { type Context, openContext } from "../context.ts";
import { usageError } from "../errors/cli-error.ts";
import { again } from "../errors/commands-to-type.ts";
import { keychainOf, keychainProblem, noKeychain } from "../profile/keychain.ts";
import { withPlainHttp } from "../profile/plain-http.ts";
import { changeProfiles, checkProfileName, type StoreKind } from "../profile/profiles.ts";
import { tokenStore } from "../profile/token-store.ts";

/** Of `--store`. */
export const storeHelp =
  "keychain, or file: tokens in a file only you can read (default: as last time in this profile, else keychain)";

/** A sign-in of this server and profile, and where its tokens go. */
export interface SignIn {
  account: string;
  store: StoreKind;
  tokens: TokenPairAnswer;
}

/** Keeps the tokens as every way of signing in does, and makes the profile name them. */
export async function keepSignIn(context: Context, signIn: SignIn): Promise<void> {
  for (const secret of [signIn.tokens.accessToken, signIn.tokens.refreshToken]) context.shell.secrets.add(secret);
  await keep(context, signIn);
  const partner = await partnerName(context);
  if (partner !== undefined) await remember(context, signIn, partner);
}

/**
 * Reads `--store`, which the profile remembers, and finds out whether it works. Before anything is sent: a session that cannot be kept would be of
 * no use, and a code or an invitation works once.
 */
export async function readyStore(
  { shell, settings, globals }: Context,
  given: string = settings.store.value,
): Promise<StoreKind> {
  if (given !== "keychain" && given !== "file") throw usageError("--store must be keychain or file");
  checkProfileName(settings.profile.value);
  if (given === "keychain") {
    const problem = await keychainProblem(keychainOf(shell));
    if (problem !== undefined) throw noKeychain(problem, again(withoutStore(globals.typed), "--store=file"));
  }
  return given;
}

const withoutStore = (typed: readonly string[]): string[] =>
  typed.filter((word, at) => !/^--store(=|$)/.test(word) && typed[at - 1] !== "--store");

/** Tokens first: a profile that names a sign-in without tokens would only confuse. */
async function keep(context: Context, signIn: SignIn): Promise<void> {
  const { shell, settings } = context;
  const { account, store, tokens } = signIn;
  const key = { server: settings.server.value, profile: settings.profile.value, account };
  const { accessToken, refreshToken, expiresIn } = tokens;
  const kept = tokenStore(shell, key, store);
  await kept.withLock(() => kept.write({ accessToken, refreshToken, expiresAtMs: shell.now() + expiresIn * 1000 }));
  await remember(context, signIn);
}

async function remember(
  { shell, settings, globals }: Context,
  { account, store }: SignIn,
  partner?: string,
): Promise<void> {
  await changeProfiles(shell, (book) => {
    const known = book.profiles[settings.profile.value] ?? { signIns: {} };
    const profile = withPlainHttp(known, globals, settings.server.value);
    book.profiles[settings.profile.value] = profile;
    profile.server ??= settings.server.value;
    profile.store = store;
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
