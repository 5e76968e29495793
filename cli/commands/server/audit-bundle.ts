import type { FileHandle } from "node:fs/promises";
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { BundleChoice, Candidate } from "#server/audit-bundle";
import { type Context, openContext } from "../../context.ts";
import { type CliError, unwritable, usageError } from "../../errors/cli-error.ts";
import { ambiguousName, unknownName } from "../../generic/name-errors.ts";
import { isForPrograms, printResult } from "../../output/print.ts";
import type { Run } from "../../register.ts";
import { writeTo } from "../../shell.ts";
import { takes } from "../../taken-flags.ts";
import { addPlaceFlags, installedConfig, type PlaceOptions } from "./server-config.ts";

interface Options extends PlaceOptions {
  partner?: string;
  system?: boolean;
  output?: string;
}

/** `rmm server audit-bundle`: writes a chain as a file that `rmm audit verify --bundle` judges anywhere. */
export function registerAuditBundle(group: Command, run: Run): void {
  const command = group.command("audit-bundle").summary("Export a chain of the audit log for offline verification");
  takes(command, "org", "profile");
  addPlaceFlags(command)
    .description(
      "Write one chain of the audit record, with its anchors and prune records, as NDJSON from the database of this " +
        "machine. The server may run or not. Verify it anywhere with rmm audit verify --bundle",
    )
    .option("--partner <partner>", "the chain of a partner: slug, name or id (an organization: --org)")
    .option("--system", "the chain of the installation itself")
    .option("-o, --output <path>", "write to a new file only you can read, instead of stdout")
    .addHelpText(
      "before",
      "Examples:\n  rmm server audit-bundle --org contoso-dental --output contoso-dental.ndjson\n  rmm server audit-bundle --system --data-dir ./data > system.ndjson\n",
    )
    .action(() =>
      run(async (shell, globals) =>
        writeBundle(await openContext(shell, globals, { mayBeNew: true }), command.opts<Options>()),
      ),
    );
}

async function writeBundle(context: Context, options: Options): Promise<number> {
  const { shell } = context;
  const choice = choiceOf(context, options);
  const config = await installedConfig(shell, options);
  const { openAuditBundle } = await import("#server/audit-bundle");
  const bundle = await openAuditBundle(config, choice, new Date(shell.now()));
  if ("candidates" in bundle) throw notOne(choice, bundle.candidates);
  try {
    const file = options.output === undefined ? undefined : await newFile(options.output);
    const lines = await pour(context, bundle.lines, file).finally(() => file?.close());
    const path = options.output === undefined ? undefined : resolve(options.output);
    const publicKeys = bundle.publicKey === null ? [] : [bundle.publicKey];
    if (path !== undefined && isForPrograms(context))
      await printResult(context, { path, lines, publicKeys }, { fields: [] });
    const where = path === undefined ? "" : ` in ${path}`;
    await context.notice(`${lines} lines of the ${bundle.chain.kind} chain ${bundle.chain.id}${where}`);
    if (bundle.waiting > 0)
      await context.notice(`${bundle.waiting} newer entries are not in any chain yet: start the server, or try again`);
    if (bundle.publicKey !== null)
      await context.notice(`Anchors are signed with ${bundle.publicKey}: hand it over another way`);
  } finally {
    await bundle.close();
  }
  return 0;
}

/** Slugs are unique in a partner alone, names nowhere. */
function notOne(choice: BundleChoice, candidates: readonly Candidate[]): CliError {
  const [what, name] =
    "org" in choice ? ["organization", choice.org] : ["partner", "partner" in choice ? choice.partner : ""];
  if (candidates.length === 0) return unknownName(what, name, []);
  const lines = candidates.map(({ id, name: called, partner }) => [id, called, partner].filter(Boolean).join("  "));
  return ambiguousName(what, name, lines);
}

function choiceOf({ globals, settings }: Context, { partner, system }: Options) {
  const given = [globals.org ? "--org" : "", partner ? "--partner" : "", system ? "--system" : ""].filter(Boolean);
  if (given.length > 1) throw usageError(`Use only one of ${given.join(", ")}`);
  if (system) return { system: true } as const;
  if (partner) return { partner };
  const org = settings.org.value;
  if (org === undefined) throw usageError("Missing: --org, --partner or --system", "Whose chain is it?");
  return { org };
}

/** Never over something that exists: an earlier bundle may be evidence. */
const newFile = (path: string): Promise<FileHandle> =>
  open(path, "wx", 0o600).catch((error: unknown) => {
    throw unwritable("--output", path, error);
  });

const CHUNK = 64 * 1024;

async function pour({ shell }: Context, lines: AsyncIterable<string>, file: FileHandle | undefined): Promise<number> {
  const put = (text: string) => (file === undefined ? writeTo(shell, "stdout", text) : file.writeFile(text));
  let count = 0;
  let text = "";
  for await (const line of lines) {
    count += 1;
    text += line;
    if (text.length >= CHUNK) {
      await put(text);
      text = "";
    }
  }
  await put(text);
  await file?.sync();
  return count;
}
