import { execFileSync } from "node:child_process";
import { copyFile, mkdir, readFile, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, type ChunkingContext, type Plugin, RUNTIME_MODULE_ID } from "rolldown";
import { bundleServer, importServed } from "./bundle-server.ts";

/**
 * Each file costs more than a millisecond at start, so what is needed together is one file: what these modules import,
 * but for what they import when it is used. What an earlier piece holds is not in a later one.
 */
const pieces: Readonly<Record<string, readonly string[]>> = {
  start: ["cli/entry.ts"],
  help: ["cli/main.ts", "cli/crash.ts"],
  call: ["cli/generic/noun-group.ts", "sdk/node.ts"],
  items: ["cli/generic/read-items.ts", "cli/generic/drafts-of-items.ts", "cli/generic/run-items.ts"],
};

type Graph = Pick<ChunkingContext, "getModuleInfo">;

/** The piece of a module, by what imports it. */
function pieceOf(root: string): (id: string, graph: Graph) => string | null {
  let known: Map<string, string> | undefined;
  return (id, graph) => {
    known ??= divide(root, graph);
    return id === RUNTIME_MODULE_ID ? "start" : (known.get(id) ?? null);
  };
}

function divide(root: string, graph: Graph): Map<string, string> {
  const known = new Map<string, string>();
  const take = (id: string, piece: string): void => {
    if (known.has(id)) return;
    known.set(id, piece);
    for (const next of graph.getModuleInfo(id)?.importedIds ?? []) take(next, piece);
  };
  for (const [piece, modules] of Object.entries(pieces)) for (const module of modules) take(`${root}/${module}`, piece);
  return known;
}

/** Commander starts commands that are programs of their own; there are none here, and `node:child_process` costs a start 6 ms. */
const withoutSubprocesses: Plugin = {
  name: "without-subprocesses",
  transform: {
    filter: { id: /\/node_modules\/commander\/lib\/command\.js$/ },
    handler: (code) => code.replace("require('node:child_process')", "{}"),
  },
};

/** Generated tables as JSON in a string, which Node reads several times faster than the same as source. */
const tablesAsJson: Plugin = {
  name: "tables-as-json",
  load: {
    filter: { id: /\/(cli\/generated\/(?!load)|sdk\/generated\/endpoints)[\w-]*\.ts$/ },
    handler: async (id) => {
      const tables = (await import(id)) as Record<string, unknown>;
      return Object.entries(tables)
        .map(([name, table]) => `export const ${name} = JSON.parse(${JSON.stringify(JSON.stringify(table))});`)
        .join("\n");
    },
  },
};

/** As `bin/rmm.js` runs a file, with the bundled server. One character beyond Latin-1 would double what Node has to keep and read of it. */
const asScript: Plugin = {
  name: "as-script",
  generateBundle: (_options, files) => {
    for (const file of Object.values(files))
      if (file.type === "chunk")
        file.code = importServed(file.code)
          .replace(/\bimport\((?=[`"'])/g, "require.import(")
          .replace(/[^\0-\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  },
};

/**
 * Bundles the `rmm` command into `dist/rmm`: a file for what every start loads, one for what every call loads, and one
 * for each group of commands and each library. The server is a bundle of its own.
 */
async function bundle(root: string): Promise<void> {
  const { version } = JSON.parse(await readFile(`${root}/package.json`, "utf8")) as { version: string };
  await rm(`${root}/dist/rmm`, { recursive: true, force: true });
  await build({
    cwd: root,
    input: { entry: "cli/entry.ts" },
    platform: "node",
    preserveEntrySignatures: false,
    plugins: [withoutSubprocesses, tablesAsJson, asScript],
    external: [/^node:/, /^#(server(?!\/audit\/)|fixtures)\//, /^keytar/, "jq-wasm", "kysely", "ky", "zod", "qrcode"],
    resolve: { conditionNames: ["source", "node", "import", "default"] },
    transform: { target: "node20", define: { RMM_VERSION: JSON.stringify(version) } },
    checks: { ineffectiveDynamicImport: false },
    output: {
      dir: "dist/rmm",
      format: "cjs",
      minify: true,
      keepNames: true,
      entryFileNames: "[name].cjs",
      chunkFileNames: "[name]-[hash].cjs",
      codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: pieceOf(root), debugName: "pieces" }] },
    },
  });
}

/** Of swagger-ui-dist, which weighs seven times as much, what the page at `/docs` loads; the server installs nothing of it. */
async function copyDocsUi(root: string): Promise<void> {
  const from = `${root}/node_modules/swagger-ui-dist`;
  await mkdir(`${root}/dist/docs-ui`, { recursive: true });
  const notices = ["LICENSE", "NOTICE", "swagger-ui-bundle.js.LICENSE.txt"];
  for (const name of ["swagger-ui.css", "swagger-ui-bundle.js", ...notices])
    await copyFile(`${from}/${name}`, `${root}/dist/docs-ui/${name}`);
}

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
await Promise.all([bundle(root), bundleServer(root)]);
execFileSync(process.execPath, [...process.execArgv, `${root}/scripts/code-cache.ts`], { stdio: "inherit" });
await copyDocsUi(root);
