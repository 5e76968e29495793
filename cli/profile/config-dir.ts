import { homedir, platform } from "node:os";
import { join, resolve } from "node:path";
import type { Shell } from "../shell.ts";

/** Where profiles and, with `--store=file`, tokens live: RMM_CONFIG_DIR or the user's own configuration folder. */
export function configDirOf({ env }: Pick<Shell, "env">): { path: string; source: string } {
  const given = env["RMM_CONFIG_DIR"];
  if (given) return { path: resolve(given), source: "RMM_CONFIG_DIR" };
  const home = env["HOME"] || homedir();
  if (platform() === "win32" && env["APPDATA"]) return { path: join(env["APPDATA"], "rmm"), source: "default" };
  return { path: join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "rmm"), source: "default" };
}
