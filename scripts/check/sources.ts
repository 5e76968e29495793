import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

export interface Source {
  /** Relative to the repository, with `/`. */
  path: string;
  text: string;
}

let read: Source[] | undefined;

/** Files of the tree that match the pattern: those that git tracks or would track. */
export const trackedFiles = (pattern: string): string[] =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", pattern], { encoding: "utf8" })
    .split("\n")
    .filter((path) => path !== "");

/** Every TypeScript file of the tree; generated ones on request. */
export function sources({ generated = false } = {}): Source[] {
  read ??= trackedFiles("*.ts").flatMap((path) => {
    try {
      return [{ path, text: readFileSync(path, "utf8") }];
    } catch {
      return []; // deleted, but still in the index
    }
  });
  return generated ? read : read.filter(({ path }) => !path.includes("/generated/"));
}

export const isTest = (path: string) => path.endsWith(".test.ts") || path.startsWith("server/test/");

export interface Import {
  from: string;
  /** Path of the imported file, or name of the package. */
  to: string;
  /** False for a package. */
  inTree: boolean;
  /** A type import, or an `import()`, which runs later. */
  typeOnly: boolean;
}

const statement =
  /(?:^|\n)\s*(?:import|export)\s+(type\s)?(?:[^'"();]*?\sfrom\s+)?["']([^"']+)["']|import\(\s*["']([^"']+)["']\s*\)/g;
const rooms: Record<string, string> = {
  "#contract/": "sdk/contract/",
  "#sdk/": "sdk/",
  "#server/": "server/",
  "#cli/": "cli/",
  "#fixtures/": "fixtures/",
};

/** The imports of a file. */
export function importsOf({ path, text }: Source): Import[] {
  return [...text.matchAll(statement)].map((match) => {
    const specifier = (match[2] ?? match[3]) as string;
    const inTree = /^[.#]/.test(specifier);
    const typeOnly = match[1] !== undefined || match[3] !== undefined;
    return { from: path, to: resolve(path, specifier), inTree, typeOnly };
  });
}

function resolve(from: string, specifier: string): string {
  if (specifier.startsWith(".")) return new URL(specifier, `file:///${from}`).pathname.slice(1);
  for (const [prefix, folder] of Object.entries(rooms)) {
    if (specifier.startsWith(prefix)) return `${folder}${specifier.slice(prefix.length)}.ts`;
  }
  return specifier;
}
