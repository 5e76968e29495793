import type { Context } from "../context.ts";
import { isForPrograms, printResult } from "../output/print.ts";
import type { SignIn } from "./keep-sign-in.ts";

/** What is known of the person beside the tokens; one of the two about the second factor. */
export interface SignedInAs {
  scope: string;
  /** Nothing else is answered before a factor is set up. */
  mfaEnrollmentRequired?: boolean;
  /** Of a sign-in that had no say in it: whether there is a factor, and whether this session has proved one. */
  mfa?: { enabled: boolean; satisfied: boolean };
}

/** Says who signed in and what is still missing; programs get `answer`, else the same facts. Returns the exit code. */
export async function reportSignIn(
  context: Context,
  { account, store }: Pick<SignIn, "account" | "store">,
  as: SignedInAs,
  answer?: object,
): Promise<number> {
  const { server, profile, stored } = context.settings;
  const { scope, mfaEnrollmentRequired, mfa } = as;
  if (isForPrograms(context)) {
    const facts = { server: server.value, profile: profile.value, account, store, ...factsOf(as) };
    await printResult(context, answer ?? facts, { fields: Object.keys(answer ?? facts) });
  }
  await context.notice(`Signed in to ${server.value} as ${account} (${scope}), profile ${profile.value}`);
  if (stored.server !== undefined && stored.server !== server.value) {
    await context.notice(`Profile ${profile.value} still uses ${stored.server}: give --server, or add a profile`);
  }
  const missing = mfaEnrollmentRequired ? "A second factor is required: run `rmm auth mfa setup`" : stillNeeded(mfa);
  if (missing !== undefined) await context.notice(missing);
  const other = await context.credential();
  if (other && other.account === undefined) await context.notice(`${other.source} is set and goes before this sign-in`);
  return 0;
}

const factsOf = ({ scope, mfaEnrollmentRequired, mfa }: SignedInAs) => ({
  scope,
  ...(mfaEnrollmentRequired === undefined ? {} : { mfaEnrollmentRequired }),
  ...(mfa && { mfaEnabled: mfa.enabled, mfaSatisfied: mfa.satisfied }),
});

function stillNeeded(mfa: SignedInAs["mfa"]): string | undefined {
  if (!mfa || mfa.satisfied) return undefined;
  const first = "Changes need a second factor, which this sign-in did not prove";
  return mfa.enabled ? `${first}: run \`rmm auth mfa step-up\`` : `${first}: set one up with \`rmm auth mfa setup\``;
}
