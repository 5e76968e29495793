import { copyFile, mkdir, readFile, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "rolldown";
import { bundleServer, importServed } from "./bundle-server.ts";

/**
 * Each file costs more than a millisecond at start, so modules that are needed together are bundled together. First
 * match wins.
 */
const pieces: readonly { name: string; holds: RegExp }[] = [
  { name: "start", holds: /\/cli\/(entry|start|shell|version)\.ts$|rolldown[/-]runtime/ },
  {
    name: "help",
    holds:
      /\/cli\/((main|crash|program|globals|noun-aliases|duration|suggest)\.ts|errors\/|generated\/nouns\.ts|commands\/index\.ts|output\/escape\.ts)|\/sdk\/(errors|rmm-error|contract\/areas)\.ts|\/node_modules\/commander\//,
  },
  {
    name: "call",
    holds:
      /\/cli\/((context|client|prompt)\.ts|profile\/|generic\/|output\/(?!table|jq|spinner))|\/cli\/generated\/load\.ts|\/sdk\/contract\/core\/refs\.ts|\/sdk\/(?!contract\/|validate\.ts)/,
  },
];

const served: Plugin = {
  name: "served",
  generateBundle: (_options, files) => {
    for (const file of Object.values(files)) if (file.type === "chunk") file.code = importServed(file.code);
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
    plugins: [served],
    external: [/^node:/, /^#(server|fixtures)\//, /^keytar/, "jq-wasm", "kysely", "ky", "zod", "qrcode"],
    resolve: { conditionNames: ["source", "node", "import", "default"] },
    transform: { target: "node20", define: { RMM_VERSION: JSON.stringify(version) } },
    checks: { ineffectiveDynamicImport: false },
    output: {
      dir: "dist/rmm",
      format: "esm",
      minify: true,
      keepNames: true,
      entryFileNames: "[name].js",
      chunkFileNames: "[name]-[hash].js",
      codeSplitting: { groups: pieces.map(({ name, holds }) => ({ name, test: holds })) },
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

const root = fileURLToPath(new URL("../", import.meta.url));
await bundle(root);
await bundleServer(root);
await copyDocsUi(root);
