import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** Beside node_modules, where the packages of a thread are found. */
const folder = fileURLToPath(new URL("../../dist/threads", import.meta.url));
const compiled = new Map<string, Promise<string>>();

/**
 * The script of a thread as JavaScript, for a server that runs from source (development, tests). It is compiled once for
 * a process: a TypeScript loader in each thread would cost every verification half a second.
 */
export function compiledThread(script: URL): Promise<string> {
  const file = fileURLToPath(script);
  const known = compiled.get(file) ?? compile(file);
  compiled.set(file, known);
  return known;
}

async function compile(input: string): Promise<string> {
  const bundle = await rolldown({
    input,
    platform: "node",
    external: /^[^./#]/,
    resolve: { conditionNames: ["source", "node", "import", "default"] },
  });
  const names = { entryFileNames: "[name]-[hash].mjs", chunkFileNames: "[name]-[hash].mjs" };
  const { output } = await bundle.generate({ format: "esm", ...names });
  await bundle.close();
  mkdirSync(folder, { recursive: true });
  for (const piece of output) if (piece.type === "chunk") keep(`${folder}/${piece.fileName}`, piece.code);
  return `${folder}/${output[0].fileName}`;
}

/** Named by what is in it: another process that writes the same file at the same time writes the same. */
function keep(path: string, code: string): void {
  if (existsSync(path)) return;
  writeFileSync(`${path}.${process.pid}`, code);
  renameSync(`${path}.${process.pid}`, path);
}
