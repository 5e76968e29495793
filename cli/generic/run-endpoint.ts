import type { Context } from "../context.ts";
import type { CommandSpec } from "../manifest.ts";
import { checkFields } from "../output/print.ts";
import { checkCredential } from "./check-credential.ts";
import { completeInput } from "./complete-input.ts";
import { confirmLoss } from "./confirm-loss.ts";
import type { Arguments } from "./invocation.ts";
import { placeScope } from "./place-scope.ts";
import { readInvocation } from "./read-invocation.ts";
import { resolveNames } from "./resolve-names.ts";
import { sendInvocation } from "./send-invocation.ts";

/**
 * Runs the command of one endpoint: read → scope → complete → resolve → confirm → send. A stage takes the invocation of
 * the one before and imports no other stage. Returns the exit code.
 */
export async function runEndpoint(context: Context, spec: CommandSpec, given: Arguments): Promise<number> {
  checkFields(context.globals, { fields: spec.fields });
  await checkCredential(context, spec);
  const read = await readInvocation(context, spec, given);
  const scoped = await placeScope(read);
  const complete = await completeInput(scoped);
  const resolved = await resolveNames(complete);
  const confirmed = await confirmLoss(resolved);
  return sendInvocation(confirmed);
}
