import { readFile, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/**
 * Bundles the `rmm` command into `dist/rmm`: one small file that every start loads, and a file of its own for
 * each group of commands and each library. The server and what is compiled for a machine stay outside.
 */
async function bundle(root: string): Promise<void> {
  const { version } = JSON.parse(await readFile(`${root}/package.json`, "utf8")) as { version: string };
  await rm(`${root}/dist/rmm`, { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints: { entry: "cli/entry.ts" },
    outdir: "dist/rmm",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["source"],
    minify: true,
    keepNames: true,
    legalComments: "none",
    chunkNames: "[name]-[hash]",
    define: { RMM_VERSION: JSON.stringify(version) },
    external: ["#server/*", "#fixtures/*", "keytar", "keytar/*", "jq-wasm", "kysely", "ky", "zod", "qrcode"],
    // Libraries in CommonJS ask for Node's own modules with `require`.
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "warning",
  });
}

await bundle(fileURLToPath(new URL("../", import.meta.url)));
