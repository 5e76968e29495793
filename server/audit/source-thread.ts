import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** Beside node_modules, where the packages of a thread are found. */
const folder = fileURLToPath(new URL(`../../dist/threads-${process.pid}`, import.meta.url));
const compiled = new Map<string, Promise<string>>();

/**
 * The script of a thread as JavaScript, for a server that runs from source (development, tests). It is compiled once for
 * a process: a TypeScript loader in each thread would cost every verification half a second.
 */
export function compiledThread(script: string): Promise<string> {
  const known = compiled.get(script) ?? compile(script);
  compiled.set(script, known);
  return known;
}

async function compile(script: string): Promise<string> {
  const bundle = await rolldown({
    input: fileURLToPath(new URL(`./${script}.ts`, import.meta.url)),
    platform: "node",
    external: /^[^./#]/,
    resolve: { conditionNames: ["source", "node", "import", "default"] },
  });
  const { output } = await bundle.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
  });
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return `${folder}/${output[0].fileName}`;
}
