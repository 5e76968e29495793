import type { Context } from "../context.ts";
import type { CommandSpec } from "../manifest.ts";
import { checkFields, isForPrograms } from "../output/print.ts";
import { checkCredential } from "./check-credential.ts";
import { completeInput } from "./complete-input.ts";
import { confirmLoss } from "./confirm-loss.ts";
import { filterFieldOf } from "./filter-field.ts";
import type { Arguments, Invocation } from "./invocation.ts";
import { outcomeColumns, outcomeFields } from "./item-outcome.ts";
import { requireMintShown } from "./minted.ts";
import { withOwnPassword } from "./own-password.ts";
import { placeScope } from "./place-scope.ts";
import { readInvocation } from "./read-invocation.ts";
import { resolveNames } from "./resolve-names.ts";
import { sendInvocation } from "./send-invocation.ts";

/** Refuses fields that do not exist, and a choice that leaves out the secret that is about to be created. */
async function checkOutput({ context, spec, given, list }: Invocation): Promise<void> {
  const { globals } = context;
  const inList = isForPrograms(context) ? outcomeFields : outcomeColumns(spec, given.options);
  checkFields(globals, { fields: globals.dryRun ? [] : list ? inList : spec.fields });
  const { secretFile, secretDir } = given.options;
  const isKept = secretFile !== undefined || secretDir !== undefined || given.finish !== undefined;
  if (!globals.dryRun && !isKept) await requireMintShown(context, spec, list);
}

/**
 * Runs the command of one endpoint: read → scope → complete → resolve → confirm → send. A stage takes the invocation of
 * the one before and imports no other stage. Returns the exit code.
 */
export async function runEndpoint(context: Context, command: CommandSpec, given: Arguments): Promise<number> {
  const filter = given.options["where"] === undefined ? undefined : filterFieldOf(command);
  if (filter === undefined) return runStages(context, command, given);
  // Loaded for an expression alone, for speed.
  const { withConditions } = await import("../where/as-conditions.ts");
  return withConditions(context, filter, given.options, (options) =>
    runStages(context, command, { ...given, options }),
  );
}

async function runStages(context: Context, command: CommandSpec, given: Arguments): Promise<number> {
  const spec = withOwnPassword(command, given.options);
  await checkCredential(context, spec);
  const read = await readInvocation(context, spec, given);
  await checkOutput(read);
  const scoped = await placeScope(read);
  const complete = await completeInput(scoped);
  const resolved = await resolveNames(complete);
  const confirmed = await confirmLoss(resolved);
  return sendInvocation(confirmed);
}
