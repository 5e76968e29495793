import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** A file of this package, wherever the code that asks was bundled to. */
export function fromPackage(path: string): string {
  for (let at = dirname(fileURLToPath(import.meta.url)); at !== dirname(at); at = dirname(at)) {
    const manifest = join(at, "package.json");
    if (!existsSync(manifest)) continue;
    const { name } = JSON.parse(readFileSync(manifest, "utf8")) as { name?: string };
    if (name === "rmm") return join(at, path);
  }
  throw new Error(`the package of this program was not found, and so not ${path}`);
}
