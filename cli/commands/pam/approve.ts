import type { Elevation } from "#sdk/generated/models/index";
import { levelsOf, mustProve, withProof } from "../../approver-device/prove.ts";
import type { Context } from "../../context.ts";
import { missingInput } from "../../errors/cli-error.ts";
import { cleanTyped } from "../../generic/secret-flags.ts";
import { prompterOf } from "../../prompt.ts";

const CRITICAL = 4;

interface Approving {
  readonly send: (proof?: string, own?: Map<string, string>) => Promise<number>;
  readonly secrets: Map<string, string>;
  readonly mayOpen: boolean;
}

/** With the session alone where that is enough, else with a device of the person; the server says what it takes. */
export async function approve(
  context: Context,
  request: Elevation,
  { send, secrets, mayOpen }: Approving,
): Promise<number> {
  const prove = (own: Map<string, string>) =>
    withProof(context, request, { mayOpen, decide: (proof) => send(proof, own) });
  if (await mustProve(context, request)) return prove(secrets);
  try {
    return await send();
  } catch (error) {
    const levels = levelsOf(error);
    if (levels === undefined) throw error;
    // The highest level takes the person's own password too, at any risk.
    return prove(levels.requiredLevel === 4 ? await ownProof(context, secrets) : secrets);
  }
}

/** Asked for hidden where it is needed and not given. */
export async function proofOf(
  context: Context,
  requests: readonly Elevation[],
  given: Map<string, string>,
): Promise<Map<string, string>> {
  const needed = requests.some(({ riskTier }) => riskTier === CRITICAL);
  return needed && !context.globals.dryRun ? ownProof(context, given) : given;
}

async function ownProof(context: Context, given: Map<string, string>): Promise<Map<string, string>> {
  if (given.size > 0) return given;
  if (!context.interactive) throw missingInput(["--reauth-password-file"], "The approval takes your password too");
  const prompter = prompterOf(context.shell);
  const password = await prompter.secret("Your password (empty: the account has none)");
  if (password !== "") return new Map([["reauth-password", cleanTyped(context, "reauth-password", password)]]);
  const code = await prompter.secret("Code of your authenticator app");
  return new Map([["reauth-mfa-code", cleanTyped(context, "reauth-mfa-code", code)]]);
}
