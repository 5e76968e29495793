import { rm } from "node:fs/promises";
import { basename } from "node:path";
import { build } from "rolldown";

/** Folder of the bundled server, beside that of the command. */
export const SERVED = "served";

/** What the command loads of the server; what it bundles with itself is no part of it (`bundle.ts`). */
const entries = ["main", "app", "bootstrap", "config", "doctor", "audit-bundle"];

/** Scripts of threads, which are started by name from beside the bundle. */
export const threads = [
  "server/audit/prune-worker.ts",
  "server/audit/verify-worker.ts",
  "server/db/dialect/sqlite-checkpoint-worker.ts",
  "server/db/dialect/sqlite-read-worker.ts",
];

/** What Node loads by itself: native modules, and packages that choose such at run time. `rolldown` serves sources alone. */
const external = [/^node:/, "@node-rs/argon2", /^better-sqlite3/, /^rmm-sqlite/, /^pg/, "rolldown"];

/**
 * Bundles the server for `rmm server …`: as seven hundred modules and those of its libraries it takes twice as long to
 * start and a third more memory (measured). Names and lines of our code stay readable in stack traces.
 */
export async function bundleServer(root: string): Promise<void> {
  const dir = `dist/${SERVED}`;
  await rm(`${root}/${dir}`, { recursive: true, force: true });
  await build({
    cwd: root,
    input: {
      ...Object.fromEntries(entries.map((name) => [name, `server/${name}.ts`])),
      ...Object.fromEntries(threads.map((file) => [basename(file, ".ts"), file])),
    },
    platform: "node",
    external,
    // What is required is not what is imported: rolldown adds the condition of each.
    resolve: { conditionNames: ["source", "node", "default"] },
    transform: { target: "node20" },
    checks: { ineffectiveDynamicImport: false },
    output: { dir, format: "esm", keepNames: true, entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" },
  });
}

const imported = new RegExp(`import\\(["'\`]#server/(${entries.join("|")})["'\`]\\)`, "g");

/** The command's code, importing the bundled server where it imports the server. */
export const importServed = (code: string): string => code.replace(imported, `import("../${SERVED}/$1.js")`);
