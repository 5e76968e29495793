import { isForPrograms, printResult } from "../output/print.ts";
import { dryRun } from "./dry-run.ts";
import type { Draft, Invocation } from "./invocation.ts";
import { mints, printMinted, withSecretFile } from "./minted.ts";
import { organizationOf } from "./refs-of.ts";
import { runItems } from "./run-items.ts";
import { runList } from "./run-list.ts";
import { clientFor, send } from "./send.ts";

/** Last stage: sends the request and prints the result, or prints the request for `--dry-run`. Returns the exit code. */
export async function sendInvocation(invocation: Invocation): Promise<number> {
  const { context, spec, drafts, list } = invocation;
  const failed = drafts.find(({ failure }) => failure !== undefined);
  if (context.globals.dryRun && failed) throw failed.failure;
  if (context.globals.dryRun) return dryRun(context, spec, drafts);
  await sayTarget(invocation);
  if (list) return runItems(invocation);
  const draft = drafts[0] as Draft;
  return spec.paging ? runList(context, spec, draft) : runOne(invocation, draft);
}

/** Where a change goes, before it goes there: `→ Acme MSP / Contoso (prod)`. */
async function sayTarget({ context, spec, drafts, names }: Invocation): Promise<void> {
  const [draft] = drafts;
  if (draft === undefined || spec.method === "GET" || spec.access.kinds.includes("public")) return;
  if (isForPrograms(context)) return;
  const { server, profile, stored } = context.settings;
  const orgId = organizationOf(spec, draft);
  const org = orgId === undefined ? undefined : (names.known(orgId)?.name ?? orgId);
  const owner = stored.signIns[server.value]?.partner ?? new URL(server.value).host;
  await context.notice(`→ ${[owner, org].filter((one) => one !== undefined).join(" / ")} (${profile.value})`);
}

async function runOne({ context, spec, given }: Invocation, draft: Draft): Promise<number> {
  const { options, exitOf, finish } = given;
  const client = await clientFor(context, spec);
  if (finish) return finish(await send(client, context, spec, draft));
  if (mints(spec)) {
    await withSecretFile(options["secretFile"] as string | undefined, async (file) => {
      const result = (await send(client, context, spec, draft)) as Record<string, unknown>;
      await printMinted(context, spec, result, file);
    });
    return 0;
  }
  const result = await send(client, context, spec, draft);
  await printResult(context, result, { fields: spec.fields });
  return exitOf?.(result) ?? 0;
}
