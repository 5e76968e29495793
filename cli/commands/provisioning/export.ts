import { didYouMean } from "#contract/core/suggest";
import type { RmmClient } from "#sdk/client";
import { type Context, openContext } from "../../context.ts";
import { CliError, usageError } from "../../errors/cli-error.ts";
import { exitCode } from "../../errors/exit-codes.ts";
import { formatOf } from "../../output/print.ts";
import { PER_MINUTE } from "../../provisioning/budget.ts";
import { exportModel } from "../../provisioning/export-model.ts";
import { inParallel } from "../../provisioning/in-parallel.ts";
import type { LiveOrg, LiveOrganization } from "../../provisioning/live.ts";
import { foldName } from "../../provisioning/model.ts";
import { type Read, readAll } from "../../provisioning/read-all.ts";
import { listOrganizations, readOrganization } from "../../provisioning/read-live.ts";
import { resolvePartner } from "../../provisioning/resolve-partner.ts";
import { paced } from "../../provisioning/sender.ts";
import { toYaml } from "../../provisioning/to-yaml.ts";
import type { Register } from "../../register.ts";
import { proving, takes } from "../../taken-flags.ts";
import { writeOutput } from "./write-output.ts";

interface Options {
  output?: string;
  partner?: string;
  numberNamesakes?: boolean;
}

/** `rmm export`: the other way round. A plan with what it writes shows no change. */
export const registerExport: Register = (command, run) => {
  takes(command, ...proving, "org");
  command
    .description("Write organizations, sites, contacts and enrollment keys as a provisioning file, without secrets")
    .argument("[organizations...]", "slugs, names or ids; all you can reach where none is given")
    .usage("[organizations...] [flags]")
    .option("-o, --output <path>", "write a file instead of stdout; --yes replaces one that exists")
    .option(
      "--partner <partner>",
      "in system scope: slug, name or id of the partner, where organizations of several are meant",
    )
    .option("--number-namesakes", "give sites and keys of one name numbers, for another server than this one")
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
  const wanted = [...slugs, ...(globals.org === undefined ? [] : [globals.org])];
  const rmm = await context.client();
  const sender = paced({ perMinute: PER_MINUTE, signal: shell.signal, sleep: shell.sleep });
  const read: Read = sender.read;
  const me = await read(() => rmm.users.me());
  const isOpen = me.scope === "system" && options.partner === undefined;
  const partnerId = isOpen ? undefined : await resolvePartner(rmm, me, options.partner, read);
  const all = await listOrganizations(rmm, { me, partnerId }, read);
  const chosen = wanted.length === 0 ? all : chosenOf(all, wanted);
  const partner = options.partner ?? (isOpen ? await partnerOf(rmm, chosen, read) : undefined);
  const everything = { sites: [], contacts: [], enrollmentKeys: [] };
  const lives: LiveOrganization[] = await inParallel(chosen, (one) => readOrganization(rmm, everything, one, read));
  const { file, warnings } = exportModel(lives, { numberNamesakes: options.numberNamesakes === true });
  const { apiVersion, organizations } = file;
  const named = partner === undefined ? file : { apiVersion, partner, organizations };
  const asJson = ["json", "ndjson"].includes(formatOf(context));
  await writeOutput(context, asJson ? `${JSON.stringify(named, null, 2)}\n` : await toYaml(named), options.output, {
    organizations: organizations.length,
  });
  for (const warning of warnings) await context.notice(`Warning: ${warning}`);
  return exitCode(warnings.length > 0 ? "partial" : "ok");
}

/** The slug of the one partner of these organizations: in system scope a file is one partner's. */
async function partnerOf(rmm: RmmClient, chosen: readonly LiveOrg[], read: Read): Promise<string | undefined> {
  const ids = [...new Set(chosen.map(({ partnerId }) => partnerId))];
  if (ids.length === 0) return undefined;
  const partners = await readAll("partners", (options) => rmm.partners.list({ query: { limit: 100 } }, options), read);
  const slugs = ids.map((id) => partners.find((one) => one.id === id)?.slug ?? id);
  if (slugs.length === 1) return slugs[0];
  throw usageError(
    `These are organizations of ${slugs.length} partners: ${slugs.join(", ")}`,
    "Choose one with --partner: a file is one partner's",
  );
}

/** By slug, else by id, else by name. Two of one name are refused with both, and of one slug in two partners. */
function chosenOf(all: readonly LiveOrg[], wanted: readonly string[]): LiveOrg[] {
  const found = wanted.map((text) => {
    const [exact, ...others] = all.filter(({ slug, id }) => slug === text.toLowerCase() || id === text.toLowerCase());
    if (others.length > 0)
      throw usageError(`${others.length + 1} partners have an organization ${text}`, "Choose one with --partner");
    if (exact) return exact;
    const named = all.filter(({ name }) => foldName(name) === foldName(text));
    if (named.length > 1) {
      const slugs = named.map(({ slug }) => slug).join(", ");
      throw usageError(`${named.length} organizations are named ${text}`, `Give a slug: ${slugs}`);
    }
    return named[0];
  });
  const unknown = wanted.filter((_text, at) => found[at] === undefined);
  if (unknown.length === 0) return [...new Set(found as LiveOrg[])];
  const known = all.flatMap(({ slug, name }) => [slug, name]);
  throw new CliError(`No organization ${unknown.join(", ")}${didYouMean(unknown[0] as string, known)}`, {
    exit: "notFound",
    code: "NOT_FOUND",
  });
}
