import type { Context } from "../context.ts";
import { getCredential } from "../context.ts";
import { CliError, usageError } from "../errors/cli-error.ts";
import type { CommandSpec } from "../manifest.ts";
import { checkFields, isForPrograms, printResult } from "../output/print.ts";
import { writeTo } from "../shell.ts";
import { confirmLoss, isSevere, neededAnswers } from "./confirm.ts";
import { type Draft, draftOfFlags, draftsOfItems } from "./draft.ts";
import { dryRun } from "./dry-run.ts";
import { fieldsOf } from "./fields.ts";
import { mints, printMinted, withSecretFile } from "./minted.ts";
import { completeDraft } from "./missing.ts";
import { type Names, namesOf } from "./names.ts";
import { type Given, readItems } from "./read-items.ts";
import { runItems } from "./run-items.ts";
import { runList } from "./run-list.ts";
import { applyScope, resolveNames } from "./scope.ts";
import { readSecrets } from "./secret-flags.ts";
import { clientFor, send } from "./send.ts";

export interface Arguments {
  readonly args: readonly (string | undefined)[];
  /** Flags of the command itself. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Exit code that an answer stands for, where not every answer is a success. */
  readonly exitOf?: (result: unknown) => number;
  /** Does something else with the answer than print it; for one call, never a list. Returns the exit code. */
  readonly finish?: (result: unknown) => Promise<number>;
}

/** Runs the command of one endpoint from its command line. Returns the exit code. */
export async function runEndpoint(context: Context, spec: CommandSpec, given: Arguments): Promise<number> {
  checkFields(context.globals, shapeOf(spec));
  await checkCredential(context, spec);
  const file = given.options["file"] as string | undefined;
  const items = file === undefined ? undefined : await readItems(context.shell, file);
  const drafts = await draftsOf(context, spec, given, items);
  const list = items?.list === true;
  if (context.globals.wait) await context.notice("--wait has no effect: this command starts no job");
  if (list && given.options["secretFile"] !== undefined) throw usageError("--secret-file takes one secret, not a list");
  if (list && (isSevere(spec) || given.finish)) throw usageError(`\`${spec.noun} ${spec.name}\` takes one at a time`);
  for (const draft of drafts) await completeDraft(context, spec, draft, neededAnswers(context, spec, drafts.length));
  const names = namesOf(context);
  if (!list) for (const draft of drafts) await resolveNames(context, spec, draft, names);
  if (context.globals.dryRun) {
    if (list) for (const draft of drafts) await resolveNames(context, spec, draft, names);
    await dryRun(context, spec, drafts);
    return 0;
  }
  await confirmLoss(
    context,
    spec,
    drafts.map((draft) => Object.values(draft.params).at(-1) ?? ""),
  );
  await sayTarget(context, spec, drafts[0]!, names);
  if (list) return runItems(context, spec, drafts, names);
  if (spec.paging) return runList(context, spec, drafts[0]!);
  return runOne(context, spec, drafts[0]!, given);
}

const shapeOf = (spec: CommandSpec) => ({ fields: spec.fields });

async function draftsOf(context: Context, spec: CommandSpec, { args, options }: Arguments, items: Given | undefined) {
  const secretFlags = fieldsOf(spec).filter((field) => field.spec.secret);
  const secrets = await readSecrets(
    context,
    secretFlags.map(({ flag }) => flag),
    options,
  );
  const flags = draftOfFlags(context, spec, args, options, secrets);
  const drafts = items === undefined ? [flags] : draftsOfItems(context, spec, items, flags);
  const unused = new Set(drafts.flatMap((draft) => applyScope(context, spec, draft).unused));
  for (const flag of unused) await context.notice(`${flag} has no effect on this command`);
  return drafts;
}

const kindNames = {
  user: "a signed-in user",
  apiKey: "an API key (svc_…)",
  partnerKey: "a partner key (svc_sp_…)",
  agent: "a device token",
  public: "no credential",
} as const;

/** Fails here where the server would refuse anyway, and says which credential would work. */
async function checkCredential(context: Context, spec: CommandSpec): Promise<void> {
  const { kinds } = spec.access;
  if (kinds.includes("public") || (context.globals.dryRun && !(await context.credential()))) return;
  const { kind, source } = await getCredential(context);
  if (kinds.includes(kind)) return;
  const wanted = kinds.map((one) => kindNames[one]).join(" or ");
  throw new CliError(`\`${spec.noun} ${spec.name}\` needs ${wanted}; ${source} holds ${kindNames[kind]}`, {
    exit: "unauthenticated",
    code: "WRONG_CREDENTIAL",
    details: { accepted: kinds, given: kind },
    hint: kinds.includes("user")
      ? "Sign in with `rmm auth login`, or unset the variable that holds the key"
      : undefined,
  });
}

/** Where a change goes, before it goes there: `→ Acme MSP / Contoso (prod)`. */
async function sayTarget(context: Context, spec: CommandSpec, draft: Draft, names: Names): Promise<void> {
  if (spec.method === "GET" || spec.access.kinds.includes("public") || isForPrograms(context)) return;
  const { server, profile, stored } = context.settings;
  const orgId =
    draft.body["orgId"] ??
    draft.query["orgId"] ??
    (/^\/orgs\/organizations\/:id/.test(spec.path) && draft.params["id"]);
  const org = typeof orgId === "string" ? (names.known(orgId)?.name ?? orgId) : undefined;
  const owner = stored.signIns[server.value]?.partner ?? new URL(server.value).host;
  await context.notice(`→ ${[owner, org].filter((one) => one !== undefined).join(" / ")} (${profile.value})`);
}

async function runOne(
  context: Context,
  spec: CommandSpec,
  draft: Draft,
  { options, exitOf, finish }: Arguments,
): Promise<number> {
  const client = await clientFor(context, spec);
  if (finish) return finish(await send(client, context, spec, draft));
  if (mints(spec)) {
    await withSecretFile(options["secretFile"] as string | undefined, async (file) => {
      const result = (await send(client, context, spec, draft)) as Record<string, unknown>;
      await printMinted(context, spec, result, file);
    });
    return 0;
  }
  const call = send(client, context, spec, draft);
  if (spec.transport === "stream") {
    await pipe(context, (await call.asResponse()).body);
    return 0;
  }
  const result = await call;
  await printResult(context, result, shapeOf(spec));
  return exitOf?.(result) ?? 0;
}

/** A download goes to stdout as it comes. */
async function pipe({ shell }: Context, body: ReadableStream<Uint8Array> | null): Promise<void> {
  if (body === null) return;
  const decoder = new TextDecoder();
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    await writeTo(shell, "stdout", decoder.decode(chunk, { stream: true }));
  }
}
