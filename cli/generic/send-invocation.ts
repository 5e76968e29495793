import type { CommandSpec } from "../manifest.ts";
import { formatOf, isForPrograms, printResult } from "../output/print.ts";
import { deadSecret, replayOf } from "../provisioning/replay.ts";
import { writeTo } from "../shell.ts";
import { renewingOf } from "./commands-of.ts";
import { doneText, isBareSuccess } from "./done-text.ts";
import { dryRun } from "./dry-run.ts";
import { existingRows } from "./existing.ts";
import { warnOfGit } from "./git-warning.ts";
import type { Draft, Invocation } from "./invocation.ts";
import { idIn } from "./item-outcome.ts";
import { printMinted, withSecretFile } from "./minted.ts";
import { pointingAt } from "./pointing-at.ts";
import { organizationOf } from "./refs-of.ts";
import { runList } from "./run-list.ts";
import { mints } from "./secret-fields.ts";
import { clientFor, send } from "./send.ts";
import { labelOf } from "./subject.ts";

/** Last stage: sends the request and prints the result, or prints the request for `--dry-run`. Returns the exit code. */
export async function sendInvocation(invocation: Invocation): Promise<number> {
  const { context, spec, drafts, list } = invocation;
  const failed = drafts.find(({ failure }) => failure !== undefined);
  if (context.globals.dryRun && failed) throw failed.failure;
  if (context.globals.dryRun) return dryRun(context, spec, drafts);
  await sayTarget(invocation);
  if (list) return (await import("./run-items.ts")).runItems(invocation);
  const draft = drafts[0] as Draft;
  if (spec.paging) return runList(context, spec, draft, invocation.given.view);
  return pointingAt(context, draft, () => runOne(invocation, draft));
}

/** Shows the target before a change is sent: `→ Acme MSP / Contoso (prod)`. */
async function sayTarget({ context, spec, drafts, names, given }: Invocation): Promise<void> {
  const [draft] = drafts;
  if (draft === undefined || given.reads === true || spec.method === "GET" || spec.access.kinds.includes("public"))
    return;
  if (isForPrograms(context)) return;
  const { server, profile, stored } = context.settings;
  const orgId = organizationOf(spec, draft);
  const org = orgId === undefined ? undefined : (names.known(orgId)?.name ?? orgId);
  const owner = stored.signIns[server.value]?.partner ?? new URL(server.value).host;
  await context.notice(`→ ${[owner, org].filter((one) => one !== undefined).join(" / ")} (${profile.value})`);
}

/** Programs get the existing row with that name; its secret cannot be shown again. */
async function leaveAlone({ context, spec }: Invocation, row: Readonly<Record<string, unknown>>): Promise<number> {
  if (isForPrograms(context)) await printResult(context, row, { fields: spec.fields });
  const secret = mints(spec) && row["key"] === undefined ? ". A key is shown only once; rotate it for a new one" : "";
  await context.notice(`${labelOf(spec.kind, row) ?? "It"} exists already: ${row["id"]}${secret}`);
  return 0;
}

type Result = Readonly<Record<string, unknown>>;

/** How to get a secret that works, of what is there already. */
async function remedyFor({ noun }: CommandSpec, secret: "stale" | "gone", made: Result): Promise<string> {
  const again = "Without that --idempotency-key, or with another, it is made anew";
  const id = idIn(made);
  const renewing = await renewingOf(noun);
  if (secret === "gone" || renewing === undefined || id === undefined) return again;
  return `\`rmm ${noun} ${renewing.name} ${id}\` gives it a new one`;
}

/** People are told what was done, where an answer says no more than that it was. */
async function printAnswer({ context, spec, given }: Invocation, draft: Draft, result: unknown): Promise<void> {
  const isForPeople = formatOf(context) === "table" && context.globals.columns === undefined;
  if (isForPeople && isBareSuccess(result))
    return writeTo(context.shell, "stdout", `${doneText(spec, given, draft)}\n`);
  await printResult(context, result, { fields: spec.fields });
}

async function runOne(invocation: Invocation, draft: Draft): Promise<number> {
  const { context, spec, given } = invocation;
  const { options, exitOf, finish, stream } = given;
  const sayNotes = async (result: unknown) => {
    for (const note of given.noteOn?.(result) ?? []) await context.notice(note);
  };
  const client = await clientFor(context, spec);
  const existing = existingRows(invocation);
  const there = await existing.find(draft);
  if (there !== undefined) return leaveAlone(invocation, there);
  if (stream) {
    const { body } = await send(client, context, spec, draft).asResponse();
    if (!body) throw new Error("the answer has no body");
    return stream(body);
  }
  if (finish) return finish(await send(client, context, spec, draft));
  if (mints(spec)) {
    const path = options["secretFile"] as string | undefined;
    if (path !== undefined) await warnOfGit(context, path);
    await withSecretFile(context, path, async (file) => {
      const { data, response } = await send(client, context, spec, draft).withResponse();
      const { replayed, secret } = replayOf(response);
      if (replayed && secret !== "current") throw deadSecret(secret, await remedyFor(spec, secret, data as Result));
      const result = data as Result;
      await printMinted(context, spec, result, file);
      await sayNotes(result);
    });
    return 0;
  }
  const namesake = await existing.namesake(draft);
  const result = await send(client, context, spec, draft);
  await (given.print?.(result) ?? printAnswer(invocation, draft, result));
  if (namesake !== undefined) await context.notice(`Warning: ${namesake}`);
  await sayNotes(result);
  return exitOf?.(result) ?? 0;
}
