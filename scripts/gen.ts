import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { checksumFile } from "./gen/migrations.ts";
import { registries } from "./gen/registries.ts";

/** Writes everything that is made from the tree and the contract; touches only files that change. */
async function gen(root: string): Promise<void> {
  process.chdir(root);
  await writeAll(registries());
  // Import what was just written.
  await addChecksums();
  const { generatedFiles, generatedFolders } = await import("./gen/outputs.ts");
  const files = generatedFiles();
  await writeAll(files);
  for (const folder of generatedFolders) {
    for (const { name } of (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile())) {
      if (files.has(`${folder}/${name}`)) continue;
      await rm(join(folder, name));
      console.log(`removed ${folder}/${name}`);
    }
  }
}

/** A migration's checksum is written once. Nothing else is generated while a landed migration differs from its checksum. */
async function addChecksums(): Promise<void> {
  const { checksums, faults } = await import("./gen/migration-checksums.ts").then((one) => one.takeChecksums());
  if (faults.length > 0) {
    process.stderr.write(`${faults.join("\n")}\n`);
    process.exit(1);
  }
  await writeAll(new Map([[checksumFile, checksums]]));
}

async function writeAll(files: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, text] of files) {
    if ((await readFile(path, "utf8").catch(() => undefined)) === text) continue;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    console.log(`wrote ${path}`);
  }
}

await gen(fileURLToPath(new URL("../", import.meta.url)));
