import type { Anchor } from "./anchor-format.ts";
import { type ChainRef, canonicalContent, chainOf } from "./chain.ts";
import type { ChainEntry, ChainSource, ChainVisitor, PruneRecord } from "./chain-source.ts";
import { verifyChain } from "./verify.ts";
import type { AnchorCheckOptions } from "./verify-anchors.ts";
import type { AuditVerify } from "./verify-result.ts";

/** What a bundle is made of, in this order; rows that have no entry come as `unsealed`. */
export interface BundleParts {
  chain: ChainRef;
  exportedAt: string;
  /** SPKI base64 of the key that signed the anchors, for the record: verify with a key you got another way. */
  publicKey: string | null;
  prunes: Iterable<PruneRecord>;
  /** Newest first. */
  anchors: Iterable<Anchor>;
  /** By rising chainSeq. */
  entries: AsyncIterable<ChainEntry> | Iterable<ChainEntry>;
  unsealed: AsyncIterable<NonNullable<ChainEntry["row"]>> | Iterable<NonNullable<ChainEntry["row"]>>;
}

type Line =
  | { type: "bundle"; format: 1; chain: ChainRef; exportedAt: string; publicKey: string | null }
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
  yield text({ type: "bundle", format: 1, chain, exportedAt, publicKey });
  for (const prune of parts.prunes) yield text({ type: "prune", prune });
  for (const anchor of parts.anchors) yield text({ type: "anchor", anchor });
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

/**
 * Verifies a bundle as `verifyChain` verifies a live chain, in constant memory. Throws if the bundle is incomplete: a
 * cut file must not pass for a short chain. A bundle proves only what its anchors prove: check them with a public key
 * and with anchors (`outsideAnchors`) that did not come with it.
 */
export async function verifyBundle(
  lines: AsyncIterable<string>,
  options: AnchorCheckOptions = {},
): Promise<AuditVerify & { chain: ChainRef; exportedAt: string }> {
  const reader = bundleReader(lines);
  const head = await reader.head();
  const source: ChainSource = {
    chain: head.chain,
    prunes: async () => head.prunes,
    anchors: async (limit) => head.anchors.slice(0, limit),
    walk: (visitor) => reader.walk(visitor, head.chain),
    close: async () => undefined,
  };
  const result = await verifyChain(source, options);
  return { ...result, chain: head.chain, exportedAt: head.exportedAt };
}

function bundleReader(lines: AsyncIterable<string>) {
  const input = lines[Symbol.asyncIterator]();
  let ahead: Line | undefined;
  const next = async (): Promise<Line> => {
    for (;;) {
      const { value, done } = await input.next();
      if (done) throw new Error("the bundle is cut off");
      if (value.trim() !== "") return JSON.parse(value) as Line;
    }
  };
  return {
    async head() {
      const first = await next();
      if (first.type !== "bundle" || first.format !== 1) throw new Error("not an audit bundle of format 1");
      const prunes: PruneRecord[] = [];
      const anchors: Anchor[] = [];
      for (ahead = await next(); ahead.type === "prune" || ahead.type === "anchor"; ahead = await next())
        if (ahead.type === "prune") prunes.push(ahead.prune);
        else anchors.push(ahead.anchor);
      return { chain: first.chain, exportedAt: first.exportedAt, prunes, anchors };
    },
    async walk(visitor: ChainVisitor, chain: ChainRef) {
      const found = { entries: 0, unsealed: 0 };
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
      if (line.type !== "end" || line.entries !== found.entries || line.unsealed !== found.unsealed)
        throw new Error("the bundle is not complete");
    },
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
  visitor.row(link, canonicalContent(row), intact);
}
