import { existsSync, readFileSync } from "node:fs";

let known: string | undefined;

/** The product's version: that of the package this file came in, run from source or built. */
export function productVersion(): string {
  known ??= read(new URL(".", import.meta.url));
  return known;
}

function read(folder: URL): string {
  const file = new URL("package.json", folder);
  if (existsSync(file)) {
    const { name, version } = JSON.parse(readFileSync(file, "utf8")) as { name?: string; version?: string };
    if (name === "rmm" && version !== undefined) return version;
  }
  const parent = new URL("..", folder);
  if (parent.href === folder.href) throw new Error("package.json of the product was not found");
  return read(parent);
}
