import { stat } from "node:fs/promises";
import { systemReason } from "#sdk/node/system-reason";
import { type BundleCounts, type BundleVerify, verifyBundle } from "#server/audit/bundle";
import { soundLines } from "#server/audit/lf-lines";
import type { Context } from "../../context.ts";
import { CliError, usageError } from "../../errors/cli-error.ts";
import { progressBar, withProgress } from "../../output/spinner.ts";
import { anchorKeys } from "./anchor-keys.ts";
import type { Finding } from "./findings.ts";
import { judge } from "./judge.ts";
import { type ChainName, type ChainReport, newestOf, reportOf } from "./report.ts";
import { readAnchorFile } from "./verify-on-server.ts";
import type { VerifyOptions } from "./verify-options.ts";

interface Head {
  chain: Pick<ChainName, "kind" | "id">;
  exportedAt: string;
  publicKey: string | null;
}

/** Verifies a bundle on this machine, in constant memory; a bar on a terminal says how far it is. Nothing is asked of any server. */
export async function verifyBundleFile(
  context: Context,
  path: string,
  { anchorFile, requireAnchor, bundleFlag }: VerifyOptions,
  publicKeys: readonly string[],
): Promise<ChainReport> {
  const head = await readHead(path).catch(incomplete(path, bundleFlag));
  const keys = await anchorKeys(await keysOf(context, head, publicKeys));
  const outside = anchorFile === undefined ? undefined : await readAnchorFile(anchorFile, head.chain);
  const { checked, counts, ...result } = await withBar(context, path, (read) =>
    verifyBundle(soundLines(path, read), { publicKeys: keys.spki, outside }),
  ).catch(incomplete(path, bundleFlag));
  const chain: ChainName = { ...head.chain, name: null };
  await context.notice(`Bundle exported at ${head.exportedAt}: it proves nothing about later entries`);
  const judgement = judge({ result, checked, outside, keys, requireAnchor, compared: countFindings(counts) });
  const since = newestOf(outside, keys, result);
  const given = { chain, outsideAnchors: outside?.length ?? null, since, publicKeys: keys.spki };
  return reportOf(result, judgement, given);
}

/** The verification, with a bar of how much of the file it has read. */
async function withBar<T>(
  context: Context,
  path: string,
  verify: (read: (bytes: number) => void) => Promise<T>,
): Promise<T> {
  const { size } = await stat(path);
  return withProgress(context, "Verifying", ({ say }) =>
    verify((bytes) => say(`Verifying ${progressBar(bytes, size)}`)),
  );
}

/** A bundle says in its last line how many there are; that line is the last to be lost, so others were taken out. */
function countFindings({ stated, found }: BundleVerify["counts"]): Finding[] {
  if (stated.entries === found.entries && stated.unsealed === found.unsealed) return [];
  const text = ({ entries, unsealed }: BundleCounts) =>
    `${entries} entries${unsealed > 0 ? ` and ${unsealed} outside the chain` : ""}`;
  const message = `the bundle was changed: its last line counts ${text(stated)}, and it holds ${text(found)}`;
  return [{ severity: "broken", kind: "lines_missing", chainSeq: null, message }];
}

async function keysOf(context: Context, { publicKey }: Head, given: readonly string[]): Promise<readonly string[]> {
  if (given.length > 0 || publicKey === null) return given;
  await context.notice(
    "Signatures are checked with the key inside the bundle, which the bundle's author could have chosen; give --public-key",
  );
  return [publicKey];
}

async function readHead(path: string): Promise<Head> {
  for await (const line of soundLines(path)) {
    if (line.trim() === "") continue;
    const head = parse(line);
    if (head?.type === "bundle" && (head.format === 1 || head.format === 2)) return head;
    break;
  }
  throw usageError(
    `${path} is no audit bundle of format 1 or 2`,
    "Bundles are written by `rmm audit export --bundle <file>` and `rmm server audit-bundle`",
  );
}

function parse(line: string): (Head & { type?: string; format?: number }) | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** A truncated or partly unreadable bundle proves nothing. A file that cannot be opened is an error, not a finding. */
const incomplete =
  (path: string, flag: string | undefined) =>
  (error: unknown): never => {
    if (error instanceof CliError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    // What zlib finds wrong is in the file, not with it.
    if (typeof code === "string" && !code.startsWith("Z_"))
      throw usageError(`${flag === undefined ? "Cannot" : `${flag}: cannot`} read ${path}: ${systemReason(error)}`);
    const reason = error instanceof SyntaxError ? "a line of it cannot be read" : reasonOf(error as Error);
    throw new CliError(`${path} cannot be judged: ${reason}`, {
      exit: "notProvable",
      code: "BUNDLE_INCOMPLETE",
      hint: "Copy it again, or export a new one",
      cause: error,
    });
  };

/** zlib speaks of checks and headers that nobody has heard of. */
function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === "Z_BUF_ERROR") return "the file is cut off";
  return code === undefined ? message : "the file is damaged: it is not what gzip wrote";
}
