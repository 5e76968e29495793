import { mkdir, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { ChainStatement } from "./anchor-format.ts";
import type { ChainRef } from "./chain.ts";
import { type MeasuredLine, measuredLines } from "./lf-lines.ts";
import { selectStatements } from "./statement-selection.ts";

/**
 * The file of anchors and prune records (NDJSON, 0600): the copy that whoever rewrites the database cannot reach. Keep
 * it on another volume, or ship it.
 */

/** Written once a file's server has restated the prune records from before they were signed, or found none. */
export interface RestatedMark {
  type: "restated";
  at: string;
}

/**
 * Appends lines, on disk when it returns. Appends of several processes do not mix; a line that a crash has torn is
 * ended first, so that it spoils no other.
 */
export async function appendLines(path: string, lines: readonly (ChainStatement | RestatedMark)[]): Promise<void> {
  if (lines.length === 0) return;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, "a+", 0o600);
  try {
    const { size } = await file.stat();
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
    const end = size > 0 && buffer[0] !== 10 ? "\n" : "";
    await file.writeFile(end + lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    await file.datasync();
  } finally {
    await file.close();
  }
}

const key = (chain: ChainRef) => `${chain.kind} ${chain.id}`;

/**
 * What a file holds of each of these chains (`selectStatements`), in one reading; nothing when there is no file.
 * A torn line is passed over.
 */
export async function readStatements(
  path: string,
  chains: readonly ChainRef[],
): Promise<(chain: ChainRef) => ChainStatement[]> {
  const selections = new Map(chains.map((chain) => [key(chain), selectStatements()]));
  const ids = new Set(chains.map(({ id }) => id));
  for await (const { text: line } of presentLines(path)) {
    // Most lines are of other chains: found out without reading them as JSON.
    const id = /"chainId":"([^"]*)"/.exec(line)?.[1];
    if (id === undefined || !ids.has(id)) continue;
    const statement = parsed(line);
    if (statement) selections.get(key({ kind: statement.chainKind, id: statement.chainId }))?.add(statement);
  }
  return (chain) => selections.get(key(chain))?.kept() ?? [];
}

/**
 * The lines of a file from a byte on, each with where the next one begins. A line that has no end yet is not given: it is
 * being written, or a crash has torn it.
 */
export async function* statementsFrom(
  path: string,
  start: number,
): AsyncGenerator<{ statement: ChainStatement | undefined; next: number }> {
  const found = await stat(path);
  if (start >= found.size) return;
  let next = start;
  for await (const { text, bytes } of presentLines(path, { start, end: found.size - 1 })) {
    next += bytes + 1;
    if (next > found.size) return;
    yield { statement: parsed(text), next };
  }
}

async function* presentLines(path: string, range?: { start: number; end: number }): AsyncGenerator<MeasuredLine> {
  try {
    yield* measuredLines(path, range);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

const isChainKind = (kind: unknown) => kind === "system" || kind === "partner" || kind === "organization";

function parsed(line: string): ChainStatement | undefined {
  try {
    const statement = JSON.parse(line) as Partial<ChainStatement>;
    const { chainKind, chainId, anchorSeq } = statement;
    if (!isChainKind(chainKind) || typeof chainId !== "string" || !Number.isSafeInteger(anchorSeq)) return undefined;
    return statement as ChainStatement;
  } catch {
    return undefined;
  }
}

/** What this process knows of its anchor file, kept up to date by reading what was added since. */
export interface AnchorFileIndex {
  /** Reads what is new; a file that was replaced is read anew. */
  refresh(): Promise<void>;
  /** The highest anchorSeq it holds of a chain; 0 = none. */
  last(chain: ChainRef): number;
  /** Every chain it names, also those the database has lost. */
  chains(): ChainRef[];
  /** Whether the mark is there, after which no old prune record is restated any more. */
  isMarked(): boolean;
  /** Statements that the file could not take, and that cannot be told from forged ones later: they bear no signature. */
  readonly held: ChainStatement[];
}

export function anchorFileIndex(path: string): AnchorFileIndex {
  let known = { identity: "", offset: 0, marked: false, last: new Map<string, { chain: ChainRef; seq: number }>() };
  const note = (line: string) => {
    const statement = parsed(line);
    if (!statement) {
      known.marked ||= /^\{"type":"restated"/.test(line);
      return;
    }
    const chain = { kind: statement.chainKind, id: statement.chainId };
    const seq = Math.max(known.last.get(key(chain))?.seq ?? 0, statement.anchorSeq);
    known.last.set(key(chain), { chain, seq });
  };
  const readOn = async () => {
    const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    const identity = found ? `${found.dev} ${found.ino}` : "";
    if (!found || identity !== known.identity || found.size < known.offset)
      known = { identity, offset: 0, marked: false, last: new Map() };
    if (!found || found.size === known.offset) return;
    for await (const { text, bytes } of presentLines(path, { start: known.offset, end: found.size - 1 })) {
      note(text);
      const next = known.offset + bytes + 1;
      // A line without its end is being written, or torn: it is read again.
      if (next <= found.size) known.offset = next;
    }
  };
  let reading = Promise.resolve();
  return {
    refresh() {
      const next = reading.catch(() => undefined).then(readOn);
      reading = next;
      return next;
    },
    last: (chain) => known.last.get(key(chain))?.seq ?? 0,
    chains: () => [...known.last.values()].map(({ chain }) => chain),
    isMarked: () => known.marked,
    held: [],
  };
}

const indexes = new Map<string, AnchorFileIndex>();

/** One index for each file of this process. */
export function anchorFileAt(path: string): AnchorFileIndex {
  const known = indexes.get(path) ?? anchorFileIndex(path);
  indexes.set(path, known);
  return known;
}
