import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseName, SignedInUser } from "../harness.ts";
import { exitOf, type Installation, install, renewed, startRmm } from "./processes.ts";

/** Runs a test on a new installation with a working folder, and removes both afterwards. */
export async function withInstallation(
  database: DatabaseName,
  test: (installation: Installation, folder: string) => Promise<void>,
): Promise<void> {
  const installation = await install(database, { migrated: true });
  const folder = mkdtempSync(join(tmpdir(), "rmm-apply-"));
  try {
    await test(installation, folder);
  } finally {
    await installation.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface ApplyRun {
  child: ChildProcess;
  /** Resolves when the process has ended; `code` is null if it was killed. */
  ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
}

/** Starts `rmm apply` on `book.yaml` in the folder. */
export function startApply(
  installation: Installation,
  { folder, admin, url }: { folder: string; admin: SignedInUser; url: string },
): ApplyRun {
  const child = startRmm(["apply", join(folder, "book.yaml"), "--yes", "--json", "--rate", "0"], {
    RMM_SERVER: url,
    RMM_TOKEN: renewed(installation, admin.token),
    RMM_CONFIG_DIR: join(folder, "config"),
  });
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  return { child, ended: exitOf(child).then((code) => ({ code, stdout, stderr })) };
}
