import { existsSync, readFileSync, realpathSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { sources } from "./sources.ts";

const CHOOSER = "server/db/dialect/sqlite-library.ts";
const OLDER_NODE = "server/db/dialect/older-node";

interface Lock {
  packages: Record<string, { gypfile?: boolean }>;
}

/** `npm ci` compiles nothing on a Node with ready-made binaries, and one file chooses the SQLite library. */
export async function installingFaults(): Promise<string[]> {
  return [...compiledFaults(), ...archiveFaults(), ...chooserFaults(), ...compilerFaults()];
}

/**
 * A package with ready-made binaries tells npm by `"gypfile": false` not to compile it. npm asks the lock file alone,
 * does not write that field there, and drops it whenever it rewrites the file: then `npm ci` needs Python and a compiler.
 */
function compiledFaults(): string[] {
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as Lock;
  return Object.entries(packages).flatMap(([path, locked]) => {
    if (!existsSync(`${path}/binding.gyp`) || locked.gypfile === false) return [];
    const { gypfile } = JSON.parse(readFileSync(`${path}/package.json`, "utf8")) as { gypfile?: boolean };
    return gypfile === false ? [`package-lock.json: put "gypfile": false into "${path}", which npm has dropped`] : [];
  });
}

/** npm installs the archive, while people read the folder: both must be the same. */
function archiveFaults(): string[] {
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: Record<string, string> };
  const { name, version, dependencies: brought } = JSON.parse(readFileSync(`${OLDER_NODE}/package.json`, "utf8"));
  const packed = firstFile(gunzipSync(readFileSync(`${OLDER_NODE}/${name}-${version}.tgz`)));
  const faults: string[] = [];
  if (packed !== readFileSync(`${OLDER_NODE}/package.json`, "utf8"))
    faults.push(
      `${OLDER_NODE}: the archive is not the folder's: npm pack ./${OLDER_NODE} --pack-destination ${OLDER_NODE}`,
    );
  for (const alias of Object.keys(brought))
    if (alias in dependencies) faults.push(`package.json: ${alias} would be compiled on every Node`);
  return faults;
}

/** Content of the first file of a tar archive. */
function firstFile(tar: Buffer): string {
  const size = Number.parseInt(tar.toString("latin1", 124, 136), 8);
  return tar.toString("utf8", 512, 512 + size);
}

function chooserFaults(): string[] {
  return sources()
    .filter(({ path }) => path !== CHOOSER && !path.startsWith("scripts/check/"))
    .filter(({ text }) => /(from|import\(|require\()\s*["']better-sqlite3/.test(text))
    .map(({ path }) => `${path} imports better-sqlite3; only ${CHOOSER} knows which one runs here`);
}

/** Two versions of TypeScript are installed: the older one only checks the types of the SDK and must not build the tree. */
function compilerFaults(): string[] {
  const tsc = realpathSync("node_modules/.bin/tsc");
  return tsc === realpathSync("node_modules/typescript/bin/tsc")
    ? []
    : [`node_modules/.bin/tsc is ${tsc}: npm ci links the one that builds`];
}
