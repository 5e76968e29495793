import type { Command } from "commander";
import { escapeInvisible } from "#contract/core/characters";
import type { Elevation, PamRuleComparison } from "#sdk/generated/models/index";
import { type Context, openContext } from "../../../context.ts";
import { missingInput } from "../../../errors/cli-error.ts";
import { exitCode } from "../../../errors/exit-codes.ts";
import { checkCredential } from "../../../generic/check-credential.ts";
import { endpointFlags } from "../../../generic/endpoint-flags.ts";
import { addFieldFlags, attributeOf } from "../../../generic/fields.ts";
import { accessOf } from "../../../generic/help-text.ts";
import { runEndpoint } from "../../../generic/run-endpoint.ts";
import { encodingOption } from "../../../input/read-text.ts";
import type { CommandSpec } from "../../../manifest.ts";
import { formatOf, printResult } from "../../../output/print.ts";
import type { Run } from "../../../register.ts";
import { takes } from "../../../taken-flags.ts";
import { idCalled } from "../called.ts";
import { lookedAt, reasons, words } from "./comparison-text.ts";
import { rulesOfOrg, theRule } from "./rules-of-org.ts";

/** Of a preview, and set here. */
const own = new Set(["orgId", "requestId", "windowDays", "flowType"]);
const fields = ["requestId", "rule", "matches", "isAbout", "isAtSite", "isInWindow", "criteria"];
const columns = ["criterion", "wanted", "reported", "result"];

/** `rmm pam rules test`: whether a rule, or a draft of one, would match one request, criterion by criterion. */
export function registerTest(command: Command, run: Run, preview: CommandSpec): void {
  const spec = { ...preview, fields, body: preview.body.filter(({ name }) => !own.has(name)) };
  takes(command, ...endpointFlags(spec), "wide")
    .description("Show whether a rule would match one request, criterion by criterion.\nThe server compares")
    .argument("[rule]", "name or id of a rule; flags change it for this test, and make a draft where none is named")
    .usage("[rule] --against <request> [flags]")
    .option("--against <request>", "id of the request, or the beginning of it");
  addFieldFlags(command, spec);
  command
    .option("-f, --file <path>", "take the draft from a file or - (JSON, YAML)")
    .option(...encodingOption)
    .addHelpText("before", examples)
    .addHelpText("after", () => `\n${accessOf(preview)}`)
    .action((rule: string | undefined) =>
      run(async (shell, globals) =>
        test(await openContext(shell, globals), { spec, preview }, rule, command.opts<Options>()),
      ),
    );
}

const examples = `Examples:
  rmm pam rules test "Known installers" --against 01a22c10-be4c
  rmm pam rules test --against 01a22c10-be4c --match-path-glob 'C:\\Tools\\**'
  rmm pam rules test --against 01a22c10-be4c -f draft.yaml --json
`;

type Options = Readonly<Record<string, unknown>> & { readonly against?: string };

async function test(
  context: Context,
  { spec, preview }: { spec: CommandSpec; preview: CommandSpec },
  called: string | undefined,
  { against, ...options }: Options,
): Promise<number> {
  if (against === undefined) throw missingInput(["--against"], "`rmm pam list` shows the requests");
  await checkCredential(context, preview);
  const client = await context.client();
  const id = await idCalled(context, against);
  const request = await client.elevationRequests.get({ params: { id } }, { signal: context.shell.signal });
  const rule = called === undefined ? undefined : theRule(called, await rulesOfOrg(context, request.orgId));
  return runEndpoint(
    context,
    { ...preview, fields },
    {
      args: [],
      options: { ...(rule && optionsOf(spec, rule)), ...options, orgId: request.orgId, requestId: id },
      reads: true,
      finish: (result) =>
        show(context, request, {
          rule: rule?.name ?? null,
          comparison: (result as { comparison: PamRuleComparison | null }).comparison,
        }),
    },
  );
}

/** A stored rule as the flags that would make it. */
function optionsOf({ body }: CommandSpec, rule: object): Record<string, unknown> {
  const row = rule as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    body.flatMap(({ name, flag }) => {
      const value = row[name];
      if (value === null || value === undefined) return [];
      const text = Array.isArray(value)
        ? value.map(String)
        : typeof value === "object"
          ? JSON.stringify(value)
          : String(value);
      return [[attributeOf(flag), text]];
    }),
  );
}

interface Shown {
  readonly rule: string | null;
  /** Null: comparing took more steps than a preview has. */
  readonly comparison: PamRuleComparison | null;
}

async function show(context: Context, request: Elevation, { rule, comparison }: Shown): Promise<number> {
  if (comparison === null) {
    await context.notice("Comparing takes more steps than a preview has: a report like this one waits for people");
    return exitCode("failure");
  }
  const criteria = comparison.criteria.map((one) => {
    const from = lookedAt[one.criterion];
    return { ...one, reported: from === undefined ? null : request[from] };
  });
  if (formatOf(context) !== "table") {
    const { matches, isAbout, isAtSite, isInWindow } = comparison;
    await printResult(
      context,
      { requestId: request.id, rule, matches, isAbout, isAtSite, isInWindow, criteria },
      { fields },
    );
    return exitCode("ok");
  }
  const rows = criteria.map(({ negated, wanted: one, reported, compared, criterion }) => ({
    criterion,
    wanted: `${negated ? "not " : ""}${one}`,
    reported: escapeInvisible(String(reported ?? "")),
    result: words[compared][negated ? "turned" : "plain"],
  }));
  await printResult(context, rows, { fields: columns, columns, keep: ["result"] });
  for (const line of reasons(request, rule, comparison)) await context.notice(line);
  return exitCode("ok");
}
