import { existsSync, readFileSync } from "node:fs";

let known: { folder: URL; version: string } | undefined;

/** The product's version: that of the package this file came in, run from source or built. */
export const productVersion = (): string => product().version;

/** Where that package is. */
export const productFolder = (): URL => product().folder;

function product() {
  known ??= find(new URL(".", import.meta.url));
  return known;
}

function find(folder: URL): { folder: URL; version: string } {
  const file = new URL("package.json", folder);
  if (existsSync(file)) {
    const { name, version } = JSON.parse(readFileSync(file, "utf8")) as { name?: string; version?: string };
    if (name === "rmm" && version !== undefined) return { folder, version };
  }
  const parent = new URL("..", folder);
  if (parent.href === folder.href) throw new Error("package.json of the product was not found");
  return find(parent);
}
