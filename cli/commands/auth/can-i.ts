import { askKey } from "../../access/ask-key.ts";
import { decideForUser, type Verdict } from "../../access/decide.ts";
import { decideForAgent, decideForKey } from "../../access/decide-key.ts";
import { allCommands, type Target, targetOf, targetText } from "../../access/target.ts";
import { type Context, getCredential, openContext } from "../../context.ts";
import { CliError, missingInput, usageError } from "../../errors/cli-error.ts";
import { exitCode } from "../../errors/exit-codes.ts";
import { namesOf } from "../../generic/names.ts";
import { spellingOf } from "../../noun-aliases.ts";
import { checkFields, isForPrograms, printResult } from "../../output/print.ts";
import type { Register } from "../../register.ts";
import { writeTo } from "../../shell.ts";
import { proving, tabular, takes } from "../../taken-flags.ts";

/** `rmm auth can-i`: whether the current credential may do something. Exit 0 yes, 5 no, 4 with a second factor. */
export const registerCanI: Register = (command, run) => {
  takes(command, ...tabular, ...proving, "org");
  command
    .description("Check whether the current credential may do something: a permission, an endpoint or a command")
    .argument("[what...]", "sites:write, POST /orgs/sites or sites create")
    .usage("<what> [flags]")
    .option("--list", "every command of the API, with whether it may be called")
    .addHelpText("before", examples)
    .addHelpText("after", rules)
    .action((words: string[]) =>
      run(async (shell, globals) => {
        const context = await openContext(shell, globals);
        if (command.opts()["list"] === true) return list(context);
        if (globals.columns !== undefined || !globals.header || globals.wide)
          throw usageError("--columns, --wide and --no-header go with --list: there is no table without it");
        if (words.length === 0) throw missingInput(["<what> or --list"], "For example: `rmm auth can-i sites:write`");
        return answer(context, await targetOf(words));
      }),
    );
};

const examples = `Examples:
  rmm auth can-i sites:write
  rmm auth can-i POST /enrollment-keys --org contoso-dental
  rmm auth can-i enrollment-keys create --quiet && ./rollout.sh
  rmm auth can-i --list --json
`;

const rules = `
Exit 0: yes. Exit 5: no, with the reason on stderr. Exit 4: no credential, or
only a second factor is missing.
Exit 1: this cannot be told. A user is judged by GET /users/me and the rules of
the API. A key is asked: by a read of one row, or by a request that cannot be
carried out, which counts against its limit and stands in the audit log.
A scope opens to a key the commands that take keys, and no others: a yes about a
scope names both.
`;

const fields = ["what", "allowed", "reasons", "limits", "credential", "source"];

type Judge = (target: Target) => Promise<Verdict | undefined>;

async function answer(context: Context, target: Target): Promise<number> {
  checkFields(context.globals, { fields });
  const { judge, kind, source, proof } = await judgeFor(context);
  const verdict = await judge(target);
  if (verdict === undefined) {
    throw new CliError(`The server does not say whether this key may ${targetText(target)}`, {
      exit: "failure",
      code: "CANNOT_TELL",
      hint:
        kind === "apiKey"
          ? "A signed-in user sees its scopes: `rmm api-keys list`"
          : "A signed-in user sees its scopes",
    });
  }
  const { allowed, reasons, secondFactor, limits = [] } = verdict;
  const result = { what: targetText(target), allowed, reasons, limits, credential: kind, source };
  if (isForPrograms(context)) await printResult(context, result, { fields });
  else await writeTo(context.shell, "stdout", `${allowed ? "yes" : "no"}\n`);
  for (const text of [...reasons, ...limits]) await context.notice(text);
  if (secondFactor) await context.notice(proof);
  return exitCode(allowed ? "ok" : secondFactor ? "unauthenticated" : "forbidden");
}

const listFields = ["command", "method", "path", "allowed", "reasons"];

/** Null: unknown. */
async function list(context: Context): Promise<number> {
  checkFields(context.globals, { fields: listFields });
  const { judge, proof } = await judgeFor(context);
  const rows = [];
  let forFactor = 0;
  for (const command of await allCommands()) {
    const verdict = await judge({ command });
    if (verdict?.secondFactor) forFactor += 1;
    const { noun, name, method, path } = command;
    rows.push({
      command: `${spellingOf(noun)} ${name}`,
      method,
      path,
      allowed: verdict?.allowed ?? null,
      reasons: verdict?.reasons ?? ["the server does not tell"],
    });
  }
  await printResult(context, rows, {
    fields: listFields,
    columns: ["command", "allowed", "reasons"],
    keep: ["allowed"],
  });
  if (forFactor > 0) await context.notice(`${forFactor} of them take a second factor. ${proof}`);
  return 0;
}

interface Judgement {
  readonly judge: Judge;
  readonly kind: string;
  readonly source: string;
  /** How this caller proves a second factor. */
  readonly proof: string;
}

const proofOf = (mfaEnabled: boolean): string =>
  mfaEnabled ? "Prove it with `rmm auth mfa step-up`" : "Set one up first with `rmm auth mfa setup`";

async function judgeFor(context: Context): Promise<Judgement> {
  const { kind, source } = await getCredential(context);
  const { signal } = context.shell;
  const rmm = await context.client();
  if (kind === "user") {
    const me = await rmm.users.me({}, { signal });
    if (context.globals.org !== undefined) await namesOf(context).orgId(context.globals.org);
    await tellLimits(context, me);
    return {
      judge: async (target) => decideForUser({ ...me, kind }, target),
      kind,
      source,
      proof: proofOf(me.mfaEnabled),
    };
  }
  // No key and no device has a second factor, or needs one.
  const own = { kind, source, proof: "" };
  if (kind === "agent") return { judge: async (target) => decideForAgent(target), ...own };
  const asked = askKey(rmm, kind, signal);
  return { judge: (target) => decideForKey(asked, kind, target), ...own };
}

/** Restrictions of a yes. */
async function tellLimits(
  context: Context,
  { orgAccess, orgIds, siteIds }: { orgAccess: string | null; orgIds: string[] | null; siteIds: string[] | null },
): Promise<void> {
  if (orgAccess === "selected") await context.notice(`Within ${orgIds?.length ?? 0} chosen organizations`);
  if (orgAccess === "none") await context.notice("Within no organization of the partner");
  if (siteIds !== null)
    await context.notice(
      `Within ${siteIds.length === 1 ? "one site" : `${siteIds.length} sites`} of your organization`,
    );
}
