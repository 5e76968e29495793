import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Source, sources, trackedFiles } from "./sources.ts";

/** Reads a file of the tree; undefined when there is none. */
export type ReadFile = (path: string) => string | undefined;

/** Citations of documents that are not in the tree. */
const elsewhere: readonly RegExp[] = [
  /\b(?:contract|specification|spec|design|document)s? (?:\d|§)/gi,
  /\b(?:the|this|our) specification\b/gi,
  /\((?:specification|design)[, ]/gi,
  /\block [1-5]\b/gi,
  /\bissue #?\d+|\bchapter \d+|\bthe brief\b/gi,
  /§/g,
];
/** Files that read those documents to make the golden file of the specification. */
const aboutThem = /^scripts\/specification|^server\/test\/conformance\/(specification|compare-)|^sdk\/contract\/README/;
/** Standards are public, so they may be cited. */
const standard = /\bRFC \d+ $/;

/** The words of a citation may be separated by a line break and a comment marker. */
const gap = String.raw`[\s*/]+`;
const cited = new RegExp(String.raw`((?:[\w.-]+\/)*[\w-]+\.md),${gap}"([^"]{1,100})"`, "g");
const bare = /\bdocs\/[\w-]+\.md\b/g;
const link = /\]\(([^()#\s:]*)(?:#([^()\s]+))?\)(?:, "([^"]{1,100})")?/g;
/** A citation within a page: see "Heading". */
const ownHeading = /\bsee "([A-Z][^"]{1,100})"/g;

/** Citations of documents that are not in the tree, and of pages or headings that do not exist. */
export function citationFaults(): string[] {
  const read: ReadFile = (path) => (existsSync(path) ? readFileSync(path, "utf8") : undefined);
  const pages = trackedFiles("*.md").map((path): Source => ({ path, text: read(path) ?? "" }));
  return [...sources(), ...pages]
    .filter(({ path }) => !path.startsWith("scripts/check/"))
    .flatMap((source) => citationFaultsIn(source, read));
}

/** The faults of one file, TypeScript or Markdown. */
export function citationFaultsIn(source: Source, read: ReadFile): string[] {
  return [...outside(source), ...broken(source, read)].map(
    ({ at, what }) => `${source.path}:${source.text.slice(0, at).split("\n").length} ${what}`,
  );
}

interface Fault {
  at: number;
  what: string;
}

function outside({ path, text }: Source): Fault[] {
  if (aboutThem.test(path)) return [];
  return elsewhere
    .flatMap((pattern) => [...text.matchAll(pattern)])
    .filter(({ 0: found, index }) => !(found === "§" && standard.test(text.slice(0, index))))
    .map(({ 0: found, index }) => ({ at: index, what: `cites a document that is not in the tree: ${found.trim()}` }));
}

function broken({ path, text }: Source, read: ReadFile): Fault[] {
  const faults: Fault[] = [];
  const look = (at: number, page: string, heading?: string, anchor?: string) => {
    const found = read(page);
    if (found === undefined) faults.push({ at, what: `cites ${page}, which does not exist` });
    else if (heading !== undefined && !headingsOf(found).includes(heading.replaceAll(new RegExp(gap, "g"), " ")))
      faults.push({ at, what: `cites "${heading}", which is no heading of ${page}` });
    else if (anchor !== undefined && !headingsOf(found).map(anchorOf).includes(anchor))
      faults.push({ at, what: `links to #${anchor}, which is no heading of ${page}` });
  };
  for (const { 1: page = "", 2: heading, index } of text.matchAll(cited)) look(index, pathOf(page), heading);
  for (const { 0: page, index } of text.matchAll(bare)) look(index, pathOf(page));
  if (!path.endsWith(".md")) return faults;
  for (const { 1: to = "", 2: anchor, 3: heading, index } of text.matchAll(link)) {
    const page = to === "" ? path : join(dirname(path), to);
    if (page.endsWith(".md")) look(index, page, heading, anchor);
    else if (read(page) === undefined && !isFolder(page)) faults.push({ at: index, what: `links to ${page}` });
  }
  if (path.startsWith("server/docs/"))
    for (const { 1: heading, index } of text.matchAll(ownHeading)) look(index, path, heading);
  return faults;
}

/** `docs/x.md` is short for `server/docs/x.md`. */
const pathOf = (page: string): string => (page.startsWith("docs/") ? `server/${page}` : page);

const headingsOf = (page: string): string[] =>
  [...page.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => heading.trim());

/** The anchor of a heading, as GitHub builds it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");

const isFolder = (path: string): boolean => trackedFiles(`${path}/*`).length > 0;
