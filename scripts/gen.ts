import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { generatedFiles, generatedFolders } from "./gen/outputs.ts";

/** Writes everything that is made from the contract; touches only files that change. */
async function gen(root: string): Promise<void> {
  const files = generatedFiles();
  for (const [path, text] of files) {
    const target = join(root, path);
    if ((await readFile(target, "utf8").catch(() => undefined)) === text) continue;
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
    console.log(`wrote ${path}`);
  }
  for (const folder of generatedFolders) {
    for (const name of await readdir(join(root, folder))) {
      if (files.has(`${folder}/${name}`)) continue;
      await rm(join(root, folder, name));
      console.log(`removed ${folder}/${name}`);
    }
  }
}

await gen(fileURLToPath(new URL("../", import.meta.url)));
