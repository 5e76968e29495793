import type { RmmClient } from "#sdk/client";
import { RmmError } from "#sdk/errors";
import type { Context } from "../context.ts";
import { missingInput } from "../errors/cli-error.ts";
import { codeHint } from "../errors/hints.ts";
import { prompterOf } from "../prompt.ts";

/** Finishes a sign-in with the second factor: the code that was given, else one that is asked for. */
export async function proveFactor(context: Context, client: RmmClient, tempToken: string, code: string | undefined) {
  context.shell.secrets.add(tempToken);
  if (code === undefined && !context.interactive)
    throw missingInput(["--code-file or --code-stdin"], "This account has a second factor");
  const { signal } = context.shell;
  const prove = (given: string) => {
    const method = /^\d{6}$/.test(given) ? "totp" : "recovery";
    return client.mfa.verify({ body: { tempToken, code: given, method } }, { signal });
  };
  return code === undefined ? askCode(context, "Code of your second factor, or a recovery code", prove) : prove(code);
}

const TRIES = 3;
/** The server refuses a code with letters without checking it. */
const wrong = new Set(["INVALID_MFA_CODE", "VALIDATION_ERROR"]);

/** Asks for a code until one is right, three times at most. */
export async function askCode<T>(context: Context, question: string, send: (code: string) => Promise<T>): Promise<T> {
  for (let left = TRIES - 1; ; left--) {
    const code = (await askSecret(context, question)).replaceAll(/\s/g, "");
    context.shell.secrets.add(code);
    try {
      return await send(code);
    } catch (error) {
      if (left === 0 || !(error instanceof RmmError) || !wrong.has(error.code)) throw error;
      const tries = left === 1 ? "1 try" : `${left} tries`;
      await context.notice(`That code is not right, ${tries} left: ${codeHint}`);
    }
  }
}

/** Asks without echo; what is typed never reaches a log. */
export async function askSecret({ shell }: Context, message: string): Promise<string> {
  const secret = await prompterOf(shell).secret(message);
  shell.secrets.add(secret);
  return secret;
}
