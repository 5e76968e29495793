import { asSystem } from "#server/db/as-system";
import type { Services } from "#server/services";
import { type AnchorFileIndex, anchorFileAt, appendLines } from "./anchor-file.ts";
import { type ChainStatement, isPrune } from "./anchor-format.ts";
import { anchorSigner, anchorVerifier, type StatementVerifier } from "./anchor-signing.ts";
import type { ChainRef } from "./chain.ts";
import { auditHandle } from "./handle.ts";
import { listChains } from "./list-chains.ts";
import { type AuditDb, latestStatement, statementsAfter } from "./statements.ts";

/** Of a chain that a file knows nothing of, so many of the newest statements are copied: no need for all of history. */
const NEWEST = 100;
const LINES_AT_ONCE = 1_000;

/**
 * Takes a statement out of the database: onto the log, and into the anchor file, after whatever of its chain the file
 * still lacks. A file that cannot be written costs nothing but an error in the log: what it lacks is appended later.
 */
export async function keepStatement(services: Services, statement: ChainStatement): Promise<void> {
  services.log.info(isPrune(statement) ? "audit.prune_record" : "audit.anchor", { ...statement });
  const file = anchorFileAt(services.config.anchorFile);
  try {
    await file.refresh();
    const chain = { kind: statement.chainKind, id: statement.chainId };
    const before: ChainStatement[] = [];
    for await (const missing of lacking(services, file, chain))
      if (missing.anchorSeq < statement.anchorSeq) before.push(missing);
    await appendLines(services.config.anchorFile, [...file.held, ...before, statement]);
    file.held.length = 0;
  } catch (error) {
    if (statement.signature === null) file.held.push(statement);
    unavailable(services, error);
  }
}

/**
 * Appends what the anchor file of this process lacks of these chains, or of all: statements that were taken while it
 * was away, by a process that died before it had appended them, or by another process. Only what a trusted key has
 * signed is copied from the database, so nobody who can write there can write here.
 */
export async function completeAnchorFile(services: Services, chains?: readonly ChainRef[]): Promise<void> {
  const file = anchorFileAt(services.config.anchorFile);
  try {
    await file.refresh();
    let lines = [...file.held];
    const flush = async () => {
      await appendLines(services.config.anchorFile, lines);
      lines = [];
    };
    for await (const chain of chains ?? listChains(databaseOf(services)))
      for await (const statement of lacking(services, file, chain)) {
        lines.push(statement);
        if (lines.length >= LINES_AT_ONCE) await flush();
      }
    await flush();
    file.held.length = 0;
  } catch (error) {
    unavailable(services, error);
  }
}

/** Every chain the anchor file names; none while it cannot be read. */
export async function chainsOfAnchorFile(services: Services): Promise<ChainRef[]> {
  const file = anchorFileAt(services.config.anchorFile);
  await file.refresh().catch((error) => unavailable(services, error));
  return file.chains();
}

async function* lacking(services: Services, file: AnchorFileIndex, chain: ChainRef): AsyncGenerator<ChainStatement> {
  const verifiers = trustedVerifiers(services);
  if (verifiers.length === 0) return;
  const db = databaseOf(services);
  const from = file.last(chain) || (await beginning(db, chain));
  for await (const statement of statementsAfter(db, chain, from))
    if (verifiers.some((valid) => valid(statement))) yield statement;
}

async function beginning(db: AuditDb, chain: ChainRef): Promise<number> {
  return ((await latestStatement(db, chain))?.anchorSeq ?? 0) - NEWEST;
}

const databaseOf = (services: Services): AuditDb => auditHandle(asSystem(services, "write audit chain"));

const known = new WeakMap<Services["config"], StatementVerifier[]>();

function trustedVerifiers({ config }: Services): StatementVerifier[] {
  const made =
    known.get(config) ??
    [
      ...(config.anchorSigningKey === undefined ? [] : [anchorSigner(config.anchorSigningKey).publicKey]),
      ...config.anchorPublicKeys,
    ].map(anchorVerifier);
  known.set(config, made);
  return made;
}

const unavailable = (services: Services, error: unknown): void =>
  services.log.error("audit.anchor_file_unavailable", { error: error as Error });
