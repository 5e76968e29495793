import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { Anchor } from "./anchor-format.ts";
import type { ChainRef } from "./chain.ts";

/**
 * Appends one line, synced to disk when it returns. The file (0600) is the copy that a person with access to the
 * database cannot rewrite: keep it on another volume, or ship it. Lines that several processes append do not mix.
 */
export async function appendAnchor(path: string, anchor: Anchor): Promise<void> {
  const file = await open(path, "a", 0o600);
  try {
    await file.writeFile(`${JSON.stringify(anchor)}\n`);
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** The newest anchors of one chain, newest first; none when there is no file. A torn line is passed over. */
export async function readAnchors(path: string, chain: ChainRef, limit = 100): Promise<Anchor[]> {
  const newest: Anchor[] = [];
  for await (const anchor of anchorLines(path)) {
    if (anchor.chainKind !== chain.kind || anchor.chainId !== chain.id) continue;
    newest.push(anchor);
    if (newest.length > limit) newest.shift();
  }
  return newest.reverse();
}

/** Every chain that the file knows, also those the database has lost. */
export async function anchoredChains(path: string): Promise<ChainRef[]> {
  const chains = new Map<string, ChainRef>();
  for await (const { chainKind: kind, chainId: id } of anchorLines(path)) chains.set(kind + id, { kind, id });
  return [...chains.values()];
}

async function* anchorLines(path: string): AsyncGenerator<Anchor> {
  const input = createReadStream(path, "utf8");
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      const anchor = parse(line);
      if (anchor) yield anchor;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

const parse = (line: string): Anchor | undefined => {
  try {
    return JSON.parse(line) as Anchor;
  } catch {
    return undefined;
  }
};
