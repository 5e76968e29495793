import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/**
 * Packs the SDK alone: the package `rmm-sdk`, which brings ky for requests, undici for those through a proxy, and zod for
 * those who have answers validated. Runs after `npm pack`, so that one command makes both packages; returns the name of the tarball.
 */
export function packSdk(root: string, into: string): string {
  const staged = mkdtempSync(join(tmpdir(), "rmm-sdk-"));
  try {
    cpSync(join(root, "dist/sdk"), join(staged, "dist"), {
      recursive: true,
      filter: (path) => !path.endsWith(".tsbuildinfo"),
    });
    cpSync(join(root, "sdk/README.md"), join(staged, "README.md"));
    writeFileSync(join(staged, "package.json"), `${JSON.stringify(manifestOf(root), null, 2)}\n`);
    const args = ["pack", "--ignore-scripts", "--silent", "--pack-destination", resolve(into)];
    return execFileSync("npm", args, { cwd: staged, encoding: "utf8" }).trim();
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}

interface Manifest {
  version: string;
  license: string;
  engines: Record<string, string>;
  dependencies: Record<string, string>;
}

function manifestOf(root: string): object {
  const { version, license, engines, dependencies } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  ) as Manifest;
  const entry = (name: string) => ({ types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` });
  return {
    name: "rmm-sdk",
    version,
    description: "Typed client of the rmm API",
    license,
    type: "module",
    sideEffects: false,
    engines,
    exports: { ".": entry("index"), "./node": entry("node"), "./contract": entry("contract/index") },
    imports: { "#contract/*": "./dist/contract/*.js" },
    files: ["dist"],
    dependencies: { ky: dependencies["ky"], undici: dependencies["undici"], zod: dependencies["zod"] },
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const root = fileURLToPath(new URL("../", import.meta.url));
  const into = process.env["npm_config_pack_destination"] || root;
  process.stdout.write(`${packSdk(root, into)}\n`);
}
