import type { Command } from "commander";
import { type Context, openContext } from "../../context.ts";
import { usageError } from "../../errors/cli-error.ts";
import { exitCode } from "../../errors/exit-codes.ts";
import { isColoured } from "../../output/colour.ts";
import { checkFields, formatOf, printResult } from "../../output/print.ts";
import { wrapWords } from "../../output/wrap.ts";
import type { Run } from "../../register.ts";
import { writeTo } from "../../shell.ts";
import { proving, tabular, takes } from "../../taken-flags.ts";
import { keysIn, readPublicKeys } from "./anchor-keys.ts";
import { type ChainReport, reportFields, reportText, totalText } from "./report.ts";
import { examples, meaning } from "./verify-help.ts";
import type { VerifyOptions } from "./verify-options.ts";

/** `rmm audit verify`: through the server, or offline from a bundle. Exit 11 when a chain is broken, 12 when it is not provable. */
export function registerVerify(group: Command, run: Run): void {
  const command = group.command("verify").summary("Verify that no entry of the audit log was changed or removed");
  takes(command, ...tabular, ...proving, "org", "all", "wait", "dry-run");
  const collect = (value: string, known: string[] = []) => [...known, value];
  command
    .description(
      "Walk a chain of the audit record and check every hash, through the server or offline from a bundle.\n" +
        "Without --org, --partner, --system or --all it is your own chain: your organization's, your partner's, " +
        "or the system's (or that of the default organization of RMM_ORG and the profile)",
    )
    .option("--partner <partner>", "the chain of a partner: slug, name or id")
    .option("--system", "the chain of the installation itself")
    .argument("[bundle]", "a bundle: the same as --bundle")
    .usage("[bundle] [flags]")
    .option("--proof <path>", "verify what rmm audit prove wrote, without server and sign-in")
    .option("--bundle <path>", "verify a bundle, in gzip too, without server and sign-in")
    .option(
      "--anchor-file <path>",
      "compare with anchors kept outside the database: a copy of the server's NDJSON file",
    )
    .option(
      "--since-anchor <path>",
      "the same, and the verdict rests on it: exit 12 unless an anchor in it verifies; tells what is newer",
    )
    .option("--public-key <key>", "key that anchors are signed with: base64, or a file; repeatable", collect)
    .option("--trust <path>", "file with such keys, one a line; repeatable", collect)
    .addOption(
      command
        .createOption("--require-anchor [coverage]", "exit 12 unless signed anchors cover the chain up to its head")
        .choices(["head", "any"])
        .preset("head"),
    )
    .addHelpText("before", examples)
    .addHelpText("after", meaning)
    .action((file: string | undefined) =>
      run(async (shell, globals) => {
        // A bundle needs no server, so the profile need not exist.
        const options = sinceAnchorIn(bundleIn(command.opts<VerifyOptions>(), file));
        const context = await openContext(shell, globals, {
          mayBeNew: (options.bundle ?? options.proof) !== undefined,
        });
        return verify(context, options);
      }),
    );
}

function bundleIn(options: VerifyOptions, file: string | undefined): VerifyOptions {
  if (file === undefined) return { ...options, bundleFlag: "--bundle" };
  if (options.bundle !== undefined) throw usageError("Use either a file or --bundle");
  return { ...options, bundle: file };
}

/** An anchor of the file must verify, so that a chain that was made anew with another key is not taken for the same. */
function sinceAnchorIn(options: VerifyOptions): VerifyOptions {
  const { sinceAnchor, anchorFile, requireAnchor = "any" } = options;
  if (sinceAnchor === undefined) return options;
  if (anchorFile !== undefined) throw usageError("Use either --since-anchor or --anchor-file");
  return { ...options, anchorFile: sinceAnchor, requireAnchor };
}

async function verify(context: Context, options: VerifyOptions): Promise<number> {
  checkOptions(context, options);
  checkFields(context.globals, { fields: reportFields });
  const publicKeys = await readPublicKeys([...(options.publicKey ?? []), ...(await keysIn(options.trust ?? []))]);
  if (options.proof !== undefined) {
    const { verifyProofFile } = await import("./verify-proof.ts");
    return verifyProofFile(context, options.proof, publicKeys);
  }
  if (options.bundle !== undefined) {
    const { verifyBundleFile } = await import("./verify-bundle.ts");
    return show(context, [await verifyBundleFile(context, options.bundle, options, publicKeys)]);
  }
  const { verifyOnServer } = await import("./verify-on-server.ts");
  const streams = context.globals.all === true && formatOf(context) === "ndjson";
  const tell = async (report: ChainReport) => {
    if (streams) await printResult(context, report, { fields: reportFields });
  };
  const reports = await verifyOnServer(context, options, publicKeys, tell);
  if (reports === undefined) return 0;
  return streams ? exitOf(reports) : show(context, reports);
}

function checkOptions({ globals }: Context, options: VerifyOptions): void {
  const chosen = [
    ...(globals.org ? ["--org"] : []),
    ...(options.partner === undefined ? [] : ["--partner"]),
    ...(options.system ? ["--system"] : []),
    ...(globals.all ? ["--all"] : []),
    ...(options.bundle === undefined ? [] : ["--bundle"]),
    ...(options.proof === undefined ? [] : ["--proof"]),
  ];
  if (chosen.length > 1) throw usageError(`Use only one of ${chosen.join(", ")}`);
  if (options.bundle !== undefined && globals.dryRun) throw usageError("--dry-run has no meaning with --bundle");
}

/** One object, or with `--all` a list; people read a verdict. */
async function show(context: Context, reports: ChainReport[]): Promise<number> {
  const { shell, globals } = context;
  const format = formatOf(context);
  if ((format === "table" || format === "tsv") && globals.columns === undefined) {
    const coloured = isColoured(shell, "stdout");
    const texts = reports.map((report) => reportText(report, coloured));
    if (globals.all) texts.push(totalText(reports));
    const lines = texts.join("\n").split("\n");
    const shown = format === "table" ? lines.map((line) => wrapWords(line, shell.columns, 4)) : lines;
    await writeTo(shell, "stdout", shown.join("\n"));
  } else {
    await printResult(context, globals.all ? reports : reports[0], { fields: reportFields });
  }
  return exitOf(reports);
}

function exitOf(reports: readonly ChainReport[]): number {
  const is = (verdict: ChainReport["verdict"]) => reports.some((report) => report.verdict === verdict);
  if (is("broken")) return exitCode("chainBroken");
  if (is("not_provable")) return exitCode("notProvable");
  return exitCode(is("not_verified") ? "partial" : "ok");
}
