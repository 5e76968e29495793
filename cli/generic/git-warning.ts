import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Context } from "../context.ts";

/**
 * Warns of a file for a secret that the next `git add .` would take; `shown` is what to ignore, such as its folder.
 * Outside a work tree nothing is started.
 */
export async function warnOfGit(context: Context, path: string, shown = path): Promise<void> {
  const full = resolve(path);
  if (!inWorkTree(dirname(full))) return;
  const { spawnSync } = await import("node:child_process");
  // 0: ignored, 1: not ignored, 128 or no git at all: it cannot be told.
  const { status } = spawnSync("git", ["-C", existingFolder(full), "check-ignore", "-q", full], { stdio: "ignore" });
  if (status === 1) await context.notice(`Warning: git does not ignore ${shown}: add it to .gitignore`);
}

const inWorkTree = (folder: string): boolean =>
  existsSync(join(folder, ".git")) || (dirname(folder) !== folder && inWorkTree(dirname(folder)));

const existingFolder = (path: string): string =>
  existsSync(dirname(path)) ? dirname(path) : existingFolder(dirname(path));
