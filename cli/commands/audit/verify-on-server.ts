import { access } from "node:fs/promises";
import type { RmmClient } from "#sdk/client";
import { systemReason } from "#sdk/node/system-reason";
import { readStatements } from "#server/audit/anchor-file";
import type { ChainStatement } from "#server/audit/anchor-format";
import { statementChecks } from "#server/audit/statement-checks";
import { type Context, getCredential } from "../../context.ts";
import { CliError, usageError } from "../../errors/cli-error.ts";
import { commands } from "../../generated/audit-logs.ts";
import { anchorKeys } from "./anchor-keys.ts";
import { chosenChains } from "./chosen-chains.ts";
import { compareOutside } from "./compare-outside.ts";
import { judge } from "./judge.ts";
import { type ChainName, type ChainReport, newestOf, reportOf } from "./report.ts";
import { verifyAll } from "./verify-all.ts";
import type { VerifyOptions } from "./verify-options.ts";

/** Verifies through the server; with `--all` chain by chain, each told when it is done. Undefined after `--dry-run`. */
export async function verifyOnServer(
  context: Context,
  options: VerifyOptions,
  publicKeys: readonly string[],
  tell: (report: ChainReport) => Promise<void>,
): Promise<ChainReport[] | undefined> {
  await requireUser(context);
  const rmm = await context.client();
  const chains = await chosenChains(context, rmm, options);
  if (context.globals.dryRun) {
    const { dryRun } = await import("../../generic/dry-run.ts");
    const spec = commands.find(({ name }) => name === "verify")!;
    const drafts = chains.map((chain) => ({ params: {}, query: {}, body: selectorOf(chain), hasBody: true }));
    await dryRun(context, spec, drafts);
    return undefined;
  }
  if (publicKeys.length === 0 && (options.requireAnchor || options.anchorFile !== undefined))
    await context.notice(
      "Signatures are checked with the key that the server publishes; give --public-key to trust only your own copy",
    );
  const verify = (chain: ChainName) => verifyOne(rmm, context, chain, options, publicKeys);
  return context.globals.all ? verifyAll(context, chains, verify, tell) : [await verify(chains[0]!)];
}

async function requireUser(context: Context): Promise<void> {
  const { kind, source } = await getCredential(context);
  if (kind === "user") return;
  throw new CliError(`\`audit verify\` needs a signed-in user; ${source} holds a key`, {
    exit: "unauthenticated",
    code: "WRONG_CREDENTIAL",
    details: { accepted: ["user"], given: kind },
    hint: "Sign in with `rmm auth login`, or unset the variable that holds the key",
  });
}

const selectorOf = ({ kind, id }: ChainName) =>
  kind === "organization" ? { orgId: id } : kind === "partner" ? { partnerId: id } : { chain: "system" as const };

/** A busy server verifies at a tenth of its speed: some five million entries. */
const VERIFY_MS = 600_000;

async function verifyOne(
  rmm: RmmClient,
  { shell, globals }: Context,
  chain: ChainName,
  { anchorFile, requireAnchor }: VerifyOptions,
  publicKeys: readonly string[],
): Promise<ChainReport> {
  const call = { signal: shell.signal, timeoutMs: globals.timeoutMs ?? VERIFY_MS };
  // Read before the verification: a chain that grows meanwhile would otherwise look truncated.
  const outside = anchorFile === undefined ? undefined : await readAnchorFile(anchorFile, chain);
  const result = await rmm.auditLogs.verify({ body: selectorOf(chain) }, call);
  const { stored, published } = await storedStatements(rmm, chain, outside?.at(-NEWEST)?.anchorSeq, shell.signal);
  const keys = await anchorKeys(publicKeys.length > 0 ? publicKeys : published);
  const statements = statementChecks(chain, { publicKeys: keys.spki, outside, partial: true });
  for (const statement of stored) statements.add(statement);
  const compared = outside === undefined ? [] : compareOutside(result, stored, outside);
  const evidence = { result, checked: statements.close(), outside, keys, requireAnchor, compared };
  const since = newestOf(outside, keys, result);
  const given = { chain, outsideAnchors: outside?.length ?? null, since, publicKeys: keys.spki };
  return reportOf(result, judge(evidence), given);
}

/** By rising anchorSeq. A missing file must not count as a file without anchors. */
export async function readAnchorFile(
  path: string,
  { kind, id }: Pick<ChainName, "kind" | "id">,
): Promise<ChainStatement[]> {
  const chain = { kind, id };
  const statementsOf = await access(path)
    .then(() => readStatements(path, [chain]))
    .catch((error: unknown) => {
      throw usageError(`--anchor-file: cannot read ${path}: ${systemReason(error)}`);
    });
  return statementsOf(chain).sort((a, b) => a.anchorSeq - b.anchorSeq);
}

const NEWEST = 100;

/** By rising anchorSeq: the newest hundred, and as far back as the oldest that is to be compared. */
async function storedStatements(rmm: RmmClient, chain: ChainName, oldest: number | undefined, signal: AbortSignal) {
  const stored: ChainStatement[] = [];
  const query = { ...selectorOf(chain), limit: NEWEST };
  const first = await rmm.auditLogs.anchors({ query }, { signal });
  for await (const page of first.pages()) {
    for (const item of page.items) if (item.type !== "none") stored.push(item as ChainStatement);
    const last = stored.at(-1)?.anchorSeq ?? 0;
    if (oldest === undefined || last <= oldest) break;
  }
  return { stored: stored.reverse(), published: first.raw.publicKeys };
}
