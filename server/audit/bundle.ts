import { type Anchor, type ChainStatement, isPrune, type PruneRecord } from "./anchor-format.ts";
import { type ChainRef, chainOf, contentHash } from "./chain.ts";
import type { ChainEntry, ChainSource, ChainVisitor } from "./chain-source.ts";
import type { CheckedStatements, StatementCheckOptions } from "./statement-checks.ts";
import { verifyWith } from "./verify.ts";
import type { AuditVerify } from "./verify-result.ts";

/** What a bundle is made of, in this order; rows that have no entry come as `unsealed`. */
export interface BundleParts {
  chain: ChainRef;
  exportedAt: string;
  /** SPKI base64 of the key that signed the anchors, for the record: verify with a key you got another way. */
  publicKey: string | null;
  /** Anchors and prune records by rising anchorSeq. */
  statements: AsyncIterable<ChainStatement> | Iterable<ChainStatement>;
  /** By rising chainSeq. */
  entries: AsyncIterable<ChainEntry> | Iterable<ChainEntry>;
  unsealed: AsyncIterable<NonNullable<ChainEntry["row"]>> | Iterable<NonNullable<ChainEntry["row"]>>;
}

type Line =
  | { type: "bundle"; format: 1 | 2; chain: ChainRef; exportedAt: string; publicKey: string | null }
  | { type: "prune"; prune: PruneRecord }
  | { type: "anchor"; anchor: Anchor }
  | { type: "entry"; entry: ChainEntry }
  | { type: "unsealed"; row: NonNullable<ChainEntry["row"]> }
  | { type: "end"; entries: number; unsealed: number };

/** Writes a chain as NDJSON, one line each, that `verifyBundle` can judge without server or database. */
export async function* exportBundle(parts: BundleParts): AsyncGenerator<string> {
  const { chain, exportedAt, publicKey } = parts;
  const text = (line: Line) => `${JSON.stringify(line)}\n`;
  const end: Line = { type: "end", entries: 0, unsealed: 0 };
  yield text({ type: "bundle", format: 2, chain, exportedAt, publicKey });
  for await (const statement of parts.statements)
    yield text(isPrune(statement) ? { type: "prune", prune: statement } : { type: "anchor", anchor: statement });
  for await (const entry of parts.entries) {
    end.entries += 1;
    yield text({ type: "entry", entry });
  }
  for await (const row of parts.unsealed) {
    end.unsealed += 1;
    yield text({ type: "unsealed", row });
  }
  yield text(end);
}

/** How many lines of each kind a bundle has. */
export interface BundleCounts {
  entries: number;
  unsealed: number;
}

export interface BundleVerify extends AuditVerify {
  chain: ChainRef;
  exportedAt: string;
  checked: CheckedStatements;
  /** What its last line says, and what there is: where they differ, lines were taken out of it or put in. */
  counts: { stated: BundleCounts; found: BundleCounts };
}

/**
 * Verifies a bundle as `verifyChain` verifies a live chain, in constant memory. Throws where it has no last line, or a
 * line that cannot be read: a cut file must not pass for a short chain. One that has its last line and not the lines
 * which that counts was changed, and does not hold. A bundle proves only what its anchors prove: check them with a public
 * key and with anchors (`outside`) that did not come with it.
 */
export async function verifyBundle(
  lines: AsyncIterable<string>,
  options: StatementCheckOptions = {},
): Promise<BundleVerify> {
  const reader = bundleReader(lines);
  const head = await reader.head();
  const source: ChainSource = {
    chain: head.chain,
    statements: () => head.statements,
    walk: (visitor) => reader.walk(visitor, head.chain),
    close: async () => undefined,
  };
  const { result, checked } = await verifyWith(source, { ...options, partial: head.format === 1 });
  const { chain, exportedAt } = head;
  const counts = reader.counts();
  const isWhole = counts.stated.entries === counts.found.entries && counts.stated.unsealed === counts.found.unsealed;
  return { ...result, ok: result.ok && isWhole, chain, exportedAt, checked, counts };
}

function bundleReader(lines: AsyncIterable<string>) {
  const input = lines[Symbol.asyncIterator]();
  let ahead: Line | undefined;
  const found: BundleCounts = { entries: 0, unsealed: 0 };
  let stated = found;
  const nextText = async (): Promise<string | undefined> => {
    for (;;) {
      const { value, done } = await input.next();
      if (done) return undefined;
      if (value.trim() !== "") return value;
    }
  };
  const next = async (): Promise<Line> => {
    const text = await nextText();
    if (text === undefined) throw new Error("the bundle is cut off");
    return JSON.parse(text) as Line;
  };
  return {
    async head() {
      const first = await next();
      if (first.type !== "bundle" || !(first.format === 1 || first.format === 2))
        throw new Error("not an audit bundle of format 1 or 2");
      const { format, chain, exportedAt } = first;
      const statements: ChainStatement[] = [];
      for (ahead = await next(); ahead.type === "prune" || ahead.type === "anchor"; ahead = await next())
        if (ahead.type === "anchor") statements.push(ahead.anchor);
        else if (format === 2) statements.push(ahead.prune);
      // Format 1: the newest 10,000 anchors, newest first, and prune records from before these were signed and
      // numbered, which explain nothing.
      if (format === 1) statements.sort((a, b) => a.anchorSeq - b.anchorSeq);
      return { format, chain, exportedAt, statements };
    },
    async walk(visitor: ChainVisitor, chain: ChainRef) {
      let line = ahead ?? (await next());
      for (; line.type === "entry" || line.type === "unsealed"; line = await next()) {
        if (line.type === "entry") {
          found.entries += 1;
          visitEntry(visitor, line.entry, chain);
        } else {
          found.unsealed += 1;
          visitor.unsealedRow(line.row.id);
        }
      }
      if (line.type !== "end") throw new Error(`a line of type ${JSON.stringify(line.type)} stands among the entries`);
      stated = { entries: line.entries, unsealed: line.unsealed };
      if ((await nextText()) !== undefined) throw new Error("lines follow the last line of the bundle");
    },
    counts: () => ({ stated, found }),
  };
}

function visitEntry(visitor: ChainVisitor, entry: ChainEntry, chain: ChainRef): void {
  const { row, ...link } = entry;
  visitor.link(link);
  if (row === null) {
    visitor.missingRow(link.chainSeq, link.auditId);
    return;
  }
  const owner = chainOf(row);
  const intact =
    row.checksum === link.contentHash && row.id === link.auditId && owner.kind === chain.kind && owner.id === chain.id;
  visitor.row(link, contentHash(row), intact);
}
