import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { trackedFiles } from "./check/sources.ts";

/** Copies the working tree to a new temporary folder, as a git repository that shares the installed packages. */
export function copyTree(label: string): string {
  const copy = mkdtempSync(join(tmpdir(), `rmm-${label}-`));
  for (const path of trackedFiles("*")) {
    if (existsSync(path)) cpSync(path, join(copy, path));
  }
  symlinkSync(resolve("node_modules"), join(copy, "node_modules"));
  execFileSync("git", ["init", "-q", copy]);
  return copy;
}
