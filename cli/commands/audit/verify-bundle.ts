import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { Anchor } from "#server/audit/anchor-format";
import type { Context } from "../../context.ts";
import { CliError, usageError } from "../../errors/cli-error.ts";
import { anchorKeys } from "./anchor-keys.ts";
import { judge } from "./judge.ts";
import { type ChainName, type ChainReport, reportOf } from "./report.ts";
import { readAnchorFile } from "./verify-on-server.ts";
import type { VerifyOptions } from "./verify-options.ts";

interface Head {
  chain: Pick<ChainName, "kind" | "id">;
  exportedAt: string;
  publicKey: string | null;
}

/** Verifies a bundle on this machine, in constant memory. Nothing is asked of any server. */
export async function verifyBundleFile(
  context: Context,
  path: string,
  { anchorFile, requireAnchor = false }: VerifyOptions,
  publicKeys: readonly string[],
): Promise<ChainReport> {
  const head = await readHead(path);
  const keys = await anchorKeys(await keysOf(context, head, publicKeys));
  const outside = anchorFile === undefined ? undefined : await readAnchorFile(anchorFile, head.chain);
  const { verifyBundle } = await import("#server/audit/bundle");
  const stored: Anchor[] = [];
  const options = { publicKeys: keys.spki, outsideAnchors: outside };
  const result = await verifyBundle(noting(linesOf(path), stored), options).catch(incomplete(path));
  const { anchorHash } = await import("#server/audit/anchor-format");
  const evidence = { result, stored, outside, compareOutside: false, keys, requireAnchor, hashOf: anchorHash };
  const chain: ChainName = { ...head.chain, name: null };
  await context.notice(`Bundle of ${head.exportedAt}: it proves nothing about entries made later`);
  return reportOf(result, judge(evidence), { chain, outsideAnchors: outside?.length ?? null, publicKeys: keys.spki });
}

async function keysOf(context: Context, { publicKey }: Head, given: readonly string[]): Promise<readonly string[]> {
  if (given.length > 0 || publicKey === null) return given;
  await context.notice(
    "Signatures are checked with the key inside the bundle, which the bundle's author could have chosen; give --public-key",
  );
  return [publicKey];
}

const linesOf = (path: string): AsyncIterable<string> =>
  createInterface({ input: createReadStream(path, "utf8"), crlfDelay: Number.POSITIVE_INFINITY });

async function readHead(path: string): Promise<Head> {
  for await (const line of linesOf(path)) {
    if (line.trim() === "") continue;
    const head = parse(line);
    if (head?.type === "bundle" && head.format === 1) return head;
    break;
  }
  throw usageError(`${path} is no audit bundle of format 1`, "Bundles are written by `rmm server audit-bundle`");
}

function parse(line: string): (Head & { type?: string; format?: number }) | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const NEWEST = 100;

/** Passes the lines on and keeps the newest anchors, which stand before the entries. */
async function* noting(lines: AsyncIterable<string>, anchors: Anchor[]): AsyncGenerator<string> {
  let before = true;
  for await (const line of lines) {
    if (before && line.trim() !== "") {
      const { type, anchor } = JSON.parse(line) as { type: string; anchor: Anchor };
      before = ["bundle", "prune", "anchor"].includes(type);
      if (type === "anchor" && anchors.length < NEWEST) anchors.push(anchor);
    }
    yield line;
  }
}

/** A bundle that ends too early, or that cannot be read in the middle, proves nothing. Files that cannot be opened are no finding. */
const incomplete = (path: string) => (error: unknown) => {
  if (typeof (error as NodeJS.ErrnoException).code === "string") throw error;
  const reason = error instanceof SyntaxError ? "a line of it cannot be read" : (error as Error).message;
  throw new CliError(`${path} cannot be judged: ${reason}`, {
    exit: "notProvable",
    code: "BUNDLE_INCOMPLETE",
    hint: "Copy it again, or export a new one",
    cause: error,
  });
};
