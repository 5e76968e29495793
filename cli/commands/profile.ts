import type { Command } from "commander";
import { type Context, openContext } from "../context.ts";
import { declined, missingInput, usageError } from "../errors/cli-error.ts";
import { isForPrograms, printResult } from "../output/print.ts";
import { plainHttpNotice, withPlainHttp } from "../profile/plain-http.ts";
import { changeProfiles, checkProfileName, getProfile, type OutputChoice, outputs } from "../profile/profiles.ts";
import { normalizeServer } from "../profile/server-url.ts";
import { tokenStore } from "../profile/token-store.ts";
import { prompterOf } from "../prompt.ts";
import type { Register } from "../register.ts";
import { shaped, tabular, takes, valued } from "../taken-flags.ts";

/** `rmm profile add|use|list|remove`. */
export const registerProfile: Register = (group, run) => {
  group.addHelpText(
    "before",
    "Examples:\n  rmm profile add prod --server https://rmm.example\n  rmm profile use prod\n",
  );
  const verb = (name: string, summary: string, example: string): Command =>
    group.command(name).summary(summary).description(summary).addHelpText("before", `Examples:\n  ${example}\n`);
  const named = (name: string, summary: string, example: string) =>
    verb(name, summary, example).argument("[name]", "name of the profile").usage("<name> [flags]");
  const add = named(
    "add",
    "Add a profile, or change one",
    "rmm profile add prod --server https://rmm.example --org contoso-dental",
  );
  takes(add, ...shaped, "server", "insecure-http", "org");
  add
    .option("--output <format>", `how results are printed: ${outputs.join(", ")}`)
    .action((name) =>
      run(async (shell, globals) =>
        addProfile(await openContext(shell, globals, { mayBeNew: true }), name, add.opts()),
      ),
    );
  takes(named("use", "Use a profile from now on", "rmm profile use prod"), ...valued).action((name) =>
    run(async (shell, globals) => useProfile(await openContext(shell, globals, { mayBeNew: true }), name)),
  );
  takes(verb("list", "List profiles", "rmm profile list"), ...tabular).action(() =>
    run(async (shell, globals) => listProfiles(await openContext(shell, globals, { mayBeNew: true }))),
  );
  takes(named("remove", "Remove a profile and its sign-ins", "rmm profile remove old --yes"), ...valued).action(
    (name) => run(async (shell, globals) => removeProfile(await openContext(shell, globals, { mayBeNew: true }), name)),
  );
};

function nameOf(given: string | undefined): string {
  if (given === undefined) throw missingInput(["<name>"]);
  checkProfileName(given);
  return given;
}

async function addProfile(context: Context, given: string | undefined, options: { output?: string }): Promise<number> {
  const { globals, settings, shell } = context;
  const { output } = options;
  const isNew = given !== undefined && !Object.hasOwn(settings.book.profiles, given);
  if (given === undefined || (isNew && globals.server === undefined)) {
    const server = globals.server === undefined ? ["--server"] : [];
    throw missingInput([...(given === undefined ? ["<name>"] : []), ...server]);
  }
  const name = nameOf(given);
  if (output !== undefined && !outputs.includes(output as OutputChoice)) {
    throw usageError(`--output must be one of ${outputs.join(", ")}`);
  }
  const server = globals.server === undefined ? undefined : normalizeServer(globals.server, "--server");
  await changeProfiles(shell, (book) => {
    const before = book.profiles[name] ?? { signIns: {} };
    const first = Object.keys(book.profiles).length === 0;
    const at = server ?? before.server;
    book.profiles[name] = {
      ...(at === undefined ? before : withPlainHttp(before, globals, at)),
      ...(server === undefined ? {} : { server }),
      ...(globals.org === undefined ? {} : { org: globals.org }),
      ...(output === undefined ? {} : { output: output as OutputChoice }),
    };
    if (first) book.current = name;
  });
  const changed = await openContext(shell, { ...globals, profile: name, server: undefined, org: undefined });
  const refused = plainHttpNotice(name, changed.settings.stored);
  if (refused !== undefined) await context.notice(refused);
  return printProfiles(changed, name);
}

async function useProfile(context: Context, given: string | undefined): Promise<number> {
  const name = nameOf(given);
  getProfile(context.settings.book, name);
  await changeProfiles(context.shell, (book) => {
    book.current = name;
  });
  await context.notice(`Now using profile ${name}`);
  const { shell, globals } = context;
  return isForPrograms(context) ? printProfiles(await openContext(shell, { ...globals, profile: name }), name) : 0;
}

interface Row {
  name: string;
  current: boolean;
  server: string | null;
  org: string | null;
  output: string;
  accounts: string[];
}

const fields = ["name", "current", "server", "org", "output", "accounts"];

function rowsOf({ settings: { book } }: Context): Row[] {
  return Object.entries(book.profiles).map(([name, { server, org, output, signIns }]) => ({
    name,
    current: name === book.current,
    server: server ?? null,
    org: org ?? null,
    output: output ?? "auto",
    accounts: Object.entries(signIns).map(([at, { account }]) => (at === server ? account : `${account} at ${at}`)),
  }));
}

async function printProfiles(context: Context, name: string): Promise<number> {
  await printResult(
    context,
    rowsOf(context).find((row) => row.name === name),
    { fields },
  );
  return 0;
}

async function listProfiles(context: Context): Promise<number> {
  await printResult(context, rowsOf(context), { fields });
  return 0;
}

async function removeProfile(context: Context, given: string | undefined): Promise<number> {
  const { shell, globals, settings } = context;
  const answer = globals.yes || context.interactive ? [] : ["--yes"];
  const missing = [...(given === undefined ? ["<name>"] : []), ...answer];
  if (missing.length > 0) throw missingInput(missing);
  const name = nameOf(given);
  const { signIns, server } = getProfile(settings.book, name);
  const accounts = Object.entries(signIns).map(([at, { account }]) => `${account} at ${at}`);
  const lost = accounts.length === 0 ? "" : ` and its sign-ins (${accounts.join(", ")})`;
  const question = `Remove profile ${name}${server === undefined ? "" : ` of ${server}`}${lost}?`;
  if (!globals.yes && !(await prompterOf(shell).confirm(question))) throw declined("Nothing was done");
  for (const [server, { account, store }] of Object.entries(signIns)) {
    const kept = tokenStore(shell, { server, profile: name, account }, store);
    await kept.withLock(() => kept.clear());
  }
  await changeProfiles(shell, (book) => {
    delete book.profiles[name];
    if (book.current === name) book.current = Object.keys(book.profiles)[0] ?? "default";
  });
  await context.notice(`Removed profile ${name}`);
  if (isForPrograms(context)) await printResult(context, { removed: name }, { fields: ["removed"] });
  return 0;
}
