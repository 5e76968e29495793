import { createHash, randomBytes } from "node:crypto";
import type { TokenPairAnswer } from "#sdk/session";
import { clientOf } from "../client.ts";
import type { Context } from "../context.ts";
import { type Listener, openListener } from "../hand-over/listener.ts";
import { showAddress } from "../hand-over/show-address.ts";
import { isUnattended } from "../shell.ts";
import { keepSignIn, readyStore } from "../sign-in/keep-sign-in.ts";
import { reportSignIn, type SignedInAs } from "../sign-in/report-sign-in.ts";
import { findLoginPath, type WhoseProvider } from "./login-path.ts";
import { needsPerson, nobodyCame, refusedSignIn } from "./refusals.ts";
import { signInCode } from "./sign-in-code.ts";

interface Options extends WhoseProvider {
  store?: string;
  /** False: only print the address. */
  browser?: boolean;
}

/** Page that gets the one-time code; its script sends it to the listener. */
const PAGE = "/api/v1/sso/cli";
const WAIT_MS = 5 * 60_000;

/** Signs a person in through an identity provider, in their browser. Returns the exit code. */
export async function signInThroughProvider(context: Context, options: Options): Promise<number> {
  const { shell, globals, settings } = context;
  if (isUnattended(shell, !globals.input)) throw needsPerson();
  const store = await readyStore(context, options.store);
  const path = await findLoginPath(context, options);
  const listener = await openListener(`${settings.server.value}${PAGE}`, signInCode);
  try {
    const verifier = randomBytes(32).toString("base64url");
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const back = `${PAGE}?${new URLSearchParams({ port: String(listener.port), state: listener.state })}`;
    const url = `${settings.server.value}${path}?${new URLSearchParams({ redirect: back, challenge })}`;
    await showAddress(context, url, { port: listener.port, mayOpen: options.browser !== false, what: "Sign in" });
    const person = await receive(context, listener, verifier);
    await keepSignIn(context, { account: person.email, store, tokens: person.tokens });
    await listener.answer(true);
    await noteOther(context, options.email, person.email);
    return await reportSignIn(context, { account: person.email, store }, person);
  } finally {
    // After a success the browser already has its answer.
    await listener.answer(false);
    await listener.close();
  }
}

type Person = SignedInAs & { email: string; tokens: TokenPairAnswer };

async function receive(context: Context, listener: Listener, verifier: string): Promise<Person> {
  const { shell, globals } = context;
  const timeoutMs = globals.timeoutMs ?? WAIT_MS;
  const handOver = await listener.wait(timeoutMs, shell.signal);
  if (handOver === undefined) throw nobodyCame(timeoutMs);
  if ("error" in handOver) throw refusedSignIn(handOver.error);
  const { answer: code } = handOver;
  for (const secret of [code, verifier]) shell.secrets.add(secret);
  const client = await context.client("none");
  const tokens = await client.ssoLogins.exchange({ body: { code, verifier } }, { signal: shell.signal });
  for (const secret of [tokens.accessToken, tokens.refreshToken]) shell.secrets.add(secret);
  return { ...(await personOf(context, tokens)), tokens };
}

/** Ends a session that cannot be stored because its owner is unknown. */
async function personOf(context: Context, { accessToken }: TokenPairAnswer): Promise<Omit<Person, "tokens">> {
  const credentials = { token: accessToken, kind: "user" as const };
  const client = clientOf(context, { kind: "user", source: "--sso", credentials });
  try {
    const me = await client.users.me({}, { signal: context.shell.signal });
    const { email, scope, mfaEnabled: enabled, mfaSatisfied: satisfied } = me;
    return { email, scope, mfa: { enabled, satisfied } };
  } catch (error) {
    await client.sessions.logout({}, { timeoutMs: 3_000, retries: 0 }).catch(() => undefined);
    throw error;
  }
}

async function noteOther(context: Context, given: string | undefined, email: string): Promise<void> {
  if (given === undefined || given.trim().toLowerCase() === email) return;
  await context.notice(`The identity provider signed in ${email}, not ${given.trim()}`);
}
