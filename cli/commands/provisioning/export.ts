import { type Context, openContext } from "../../context.ts";
import { CliError } from "../../errors/cli-error.ts";
import { exitCode } from "../../errors/exit-codes.ts";
import { formatOf } from "../../output/print.ts";
import { PER_MINUTE } from "../../provisioning/budget.ts";
import { exportModel } from "../../provisioning/export-model.ts";
import { inParallel } from "../../provisioning/in-parallel.ts";
import type { LiveOrganization } from "../../provisioning/live.ts";
import type { Read } from "../../provisioning/read-all.ts";
import { listOrganizations, readOrganization } from "../../provisioning/read-live.ts";
import { resolvePartner } from "../../provisioning/resolve-partner.ts";
import { paced } from "../../provisioning/sender.ts";
import { toYaml } from "../../provisioning/to-yaml.ts";
import type { Register } from "../../register.ts";
import { didYouMean } from "../../suggest.ts";
import { writeOutput } from "./write-output.ts";

interface Options {
  output?: string;
  partner?: string;
}

/** `rmm export`: the other way round. A plan with what it writes shows no change. */
export const registerExport: Register = (command, run) => {
  command
    .description("Write organizations, sites, contacts and enrollment keys as a provisioning file, without secrets")
    .argument("[slugs...]", "organizations; all you can reach where none is named")
    .usage("[slugs...] [flags]")
    .option("-o, --output <path>", "write a file instead of stdout; --yes replaces one that exists")
    .option("--partner <partner>", "slug or id of the partner, for system scope")
    .addHelpText("before", examples)
    .action((slugs: string[]) =>
      run(async (shell, globals) => exportRun(await openContext(shell, globals), slugs, command.opts<Options>())),
    );
};

const examples = `Examples:
  rmm export > tenants.yaml
  rmm export harbor-dental kranz-logistik -o two.yaml
  rmm export --json | jq '.organizations | length'
`;

async function exportRun(context: Context, slugs: readonly string[], options: Options): Promise<number> {
  const { shell, globals } = context;
  const wanted = [...slugs, ...(globals.org === undefined ? [] : [globals.org])].map((slug) => slug.toLowerCase());
  const rmm = await context.client();
  const sender = paced({ perMinute: PER_MINUTE, signal: shell.signal });
  const read: Read = (call) => sender.send(call);
  const me = await read(() => rmm.users.me());
  const partnerId = await resolvePartner(rmm, me, options.partner, read);
  const all = await listOrganizations(rmm, { me, partnerId }, read);
  const unknown = wanted.filter((slug) => !all.some((one) => one.slug === slug));
  if (unknown.length > 0)
    throw notFound(
      unknown,
      all.map(({ slug }) => slug),
    );
  const chosen = wanted.length === 0 ? all : all.filter(({ slug }) => wanted.includes(slug));
  const everything = { sites: [], contacts: [], enrollmentKeys: [] };
  const lives: LiveOrganization[] = await inParallel(chosen, (one) => readOrganization(rmm, everything, one, read));
  const { file, warnings } = exportModel(lives);
  const named =
    options.partner === undefined
      ? file
      : { apiVersion: file.apiVersion, partner: options.partner, organizations: file.organizations };
  const asJson = ["json", "ndjson"].includes(formatOf(context));
  await writeOutput(context, asJson ? `${JSON.stringify(named, null, 2)}\n` : await toYaml(named), options.output);
  for (const warning of warnings) await context.notice(`Warning: ${warning}`);
  return exitCode(warnings.length > 0 ? "partial" : "ok");
}

const notFound = (unknown: readonly string[], slugs: readonly string[]) =>
  new CliError(`No organization ${unknown.join(", ")}${didYouMean(unknown[0] as string, slugs)}`, {
    exit: "notFound",
    code: "NOT_FOUND",
  });
