import type { Context } from "../context.ts";
import { usageError } from "../errors/cli-error.ts";
import { isForPrograms, picked } from "../output/print.ts";

/** What a command that makes a secret is about to print. */
export interface Printed {
  /** Fields that hold a secret, as `--json=…` and `--columns` name them. */
  readonly secrets: readonly string[];
  /** A result of that shape; `SECRET` stands for each secret. */
  readonly sample: unknown;
  /** Where the secret can go instead. */
  readonly hint: string;
}

/** Stands for a secret in a sample. */
export const SECRET = "secret-that-is-yet-to-be-made";

/**
 * Refuses, before anything is sent, output options that would leave out the secret that is about to be created: it is
 * shown once and would be lost. A jq expression is tested on a sample.
 */
export async function requireShown(context: Context, printed: Printed): Promise<void> {
  const { secrets, sample, hint } = printed;
  if (secrets.length === 0) return;
  const { jsonFields, columns, jq } = context.globals;
  const isTable = !isForPrograms(context);
  const chosen = isTable ? columns : jsonFields;
  if (chosen !== undefined && !chosen.some((name) => secrets.includes(name))) {
    throw nowhere(isTable ? `--columns ${chosen.join(",")}` : `--json=${chosen.join(",")}`, secrets, hint);
  }
  if (jq === undefined) return;
  const { runJq } = await import("../output/jq.ts");
  const shown = await runJq(jsonFields === undefined ? sample : picked(sample, jsonFields), jq).catch(
    (error: { exit?: string }) => {
      if (error.exit === "usage") throw error;
      return "";
    },
  );
  if (!shown.includes(SECRET)) throw nowhere(`--jq ${jq}`, secrets, hint);
}

const nowhere = (choice: string, secrets: readonly string[], hint: string) =>
  usageError(`With ${choice} the new secret would not be shown anywhere: nothing was sent`, hint, [
    { path: secrets[0], message: "is shown only once, when it is created" },
  ]);
