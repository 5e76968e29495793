import type { RmmClient } from "#sdk/client";
import type { Context } from "../context.ts";
import { missingInput } from "../errors/cli-error.ts";
import { prompterOf } from "../prompt.ts";

/** Finishes a sign-in with the second factor: the code that was given, else one that is asked for. */
export async function proveFactor(context: Context, client: RmmClient, tempToken: string, code: string | undefined) {
  context.shell.secrets.add(tempToken);
  if (code === undefined && !context.interactive)
    throw missingInput(["--code-file or --code-stdin"], "This account has a second factor");
  const given = code ?? (await askSecret(context, "Code of your second factor, or a recovery code")).trim();
  const method = /^\d{6}$/.test(given) ? "totp" : "recovery";
  const { signal } = context.shell;
  return client.mfa.verify({ body: { tempToken, code: given, method } }, { signal });
}

/** Asks without echo; what is typed never reaches a log. */
export async function askSecret({ shell }: Context, message: string): Promise<string> {
  const secret = await prompterOf(shell).secret(message);
  shell.secrets.add(secret);
  return secret;
}
