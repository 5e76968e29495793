import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";

/** The manifest of the checkout while `npm pack` runs. */
const KEPT = "dist/package.json.kept";

/**
 * What the tarball says of itself. npm cannot find an archive inside a tarball, and calls it corrupted at every
 * installation: who needs it is told by the server how to install it (`sqlite-remedy.ts`).
 */
export function packedManifest(text: string): string {
  const { optionalDependencies, ...rest } = JSON.parse(text) as { optionalDependencies: Record<string, string> };
  const found = Object.entries(optionalDependencies).filter(([, wanted]) => !wanted.startsWith("file:"));
  return `${JSON.stringify({ ...rest, optionalDependencies: Object.fromEntries(found) }, null, 2)}\n`;
}

if (process.argv[2] === "put") {
  // A run that failed in between left its own manifest in place.
  if (existsSync(KEPT)) renameSync(KEPT, "package.json");
  const text = readFileSync("package.json", "utf8");
  writeFileSync(KEPT, text);
  writeFileSync("package.json", packedManifest(text));
}
if (process.argv[2] === "restore") renameSync(KEPT, "package.json");
