import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { productFolder } from "#server/platform/version";

/** The packages that hold the library, each for its Node. */
export type SqlitePackage = "better-sqlite3" | "better-sqlite3-12";

/** Our package that brings the library to an older Node. */
export const OLDER_NODE = "rmm-sqlite-for-older-node";

/** What to do where the library does not load. */
export function sqliteRemedy(name: SqlitePackage, cwd = process.cwd(), root = fileURLToPath(productFolder())): string {
  const again = commandOf(name, cwd, root);
  if (name === "better-sqlite3") {
    const compiled = join(relative(cwd, root), "node_modules/better-sqlite3");
    return (
      `Run \`${again}\` again. It comes ready made for Linux, macOS and Windows on x64 and arm64; elsewhere it is ` +
      `compiled by: npm run build-release --prefix ${compiled}`
    );
  }
  return (
    `Run \`${again}\`, which compiles it and takes a C++ compiler, make and Python 3 ` +
    "(Debian: apt-get install g++ make python3); or use Node 22.14 or newer, which needs none of this"
  );
}

/**
 * npm reads what a tarball depends on before it unpacks it, and so does not find an archive inside: who installed the
 * tarball installs that archive by hand. A checkout finds it by itself.
 */
function commandOf(name: SqlitePackage, cwd: string, root: string): string {
  const around = dirname(root);
  if (basename(around) !== "node_modules") return "npm ci";
  if (name === "better-sqlite3") return "npm install";
  const folder = join(root, "server/db/dialect/older-node");
  const archive = readdirSync(folder).find((file) => file.endsWith(".tgz")) ?? "";
  const project = dirname(around);
  if (!existsSync(join(project, "package.json"))) return `npm install -g ${join(folder, archive)}`;
  const where = project === cwd ? [] : ["--prefix", project];
  return ["npm install", ...where, project === cwd ? relative(cwd, join(folder, archive)) : join(folder, archive)].join(
    " ",
  );
}
