import { type Context, openContext } from "../context.ts";
import { usageError } from "../errors/cli-error.ts";
import { commandsOf } from "../generic/commands-of.ts";
import type { Arguments } from "../generic/invocation.ts";
import { namesOf } from "../generic/names.ts";
import { runEndpoint } from "../generic/run-endpoint.ts";
import { isForPrograms, printResult } from "../output/print.ts";
import type { Register } from "../register.ts";

/** Adds `--if-not-exists` to `rmm enrollment-keys create`. */
export const extendEnrollmentKeys: Register = async (group, run) => {
  const create = group.commands.find((one) => one.name() === "create")!;
  const spec = (await commandsOf("enrollment-keys")).find((one) => one.name === "create")!;
  create
    .option("--if-not-exists", "do nothing when the organization (or the site) has a key of this name, expired or not")
    .addHelpText("after", secretHelp)
    .action(() =>
      run(async (shell, globals) => {
        const context = await openContext(shell, globals);
        const given: Arguments = { args: [], options: create.opts() };
        const existing = given.options["ifNotExists"] === true ? await findExisting(context, given) : undefined;
        if (existing === undefined) return runEndpoint(context, spec, given);
        if (isForPrograms(context)) await printResult(context, existing, { fields: spec.fields });
        await context.notice(
          `${existing.name} exists already: ${existing.id}. A key is shown only once; rotate it for a new one`,
        );
        return 0;
      }),
    );
};

const secretHelp = `
The key is all that stdout gets; facts about it go to stderr:
  KEY=$(rmm enrollment-keys create --org contoso-dental --name hq-rollout)
`;

interface Key {
  id: string;
  name: string;
  siteId: string | null;
}

async function findExisting(context: Context, { options }: Arguments): Promise<Key | undefined> {
  const name = (options["name"] as string | undefined)?.trim().normalize("NFC");
  if (options["file"] !== undefined) throw usageError("--if-not-exists goes with --name, not with -f");
  if (name === undefined || name === "") return undefined;
  const names = namesOf(context);
  const org = (options["orgId"] as string | undefined) ?? context.settings.org.value;
  const site = (options["siteId"] as string | undefined) ?? context.globals.site;
  const orgId = org === undefined ? undefined : await names.orgId(org);
  const siteId = site === undefined ? undefined : await names.siteId(site, orgId);
  const client = await context.client();
  const query = { limit: "100", ...(orgId === undefined ? {} : { orgId }) };
  const keys = await client.enrollmentKeys.list({ query }, { signal: context.shell.signal }).toArray();
  return keys.find((key) => key.name === name && (siteId === undefined || key.siteId === siteId));
}
