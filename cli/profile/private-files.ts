import { chmod, mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import * as sdk from "#sdk/node/file-lock";
import { PrivateFileError } from "#sdk/node/private-file-error";
import * as files from "#sdk/node/private-json";
import { CliError } from "../errors/cli-error.ts";

/** Runs `work` while holding the lock file, in a private folder. */
export const withFileLock = <T>(path: string, work: () => Promise<T>, waitMs?: number): Promise<T> =>
  told(async () => {
    await folderOf(path);
    return sdk.withFileLock(path, work, waitMs);
  });

/** Reads a JSON file; undefined when there is none. */
export const readPrivateJson = <T>(path: string): Promise<T | undefined> => told(() => files.readPrivateJson<T>(path));

/** Replaces a file atomically: mode 0600, in a folder of mode 0700. */
export const writePrivateJson = (path: string, value: unknown): Promise<void> =>
  told(async () => {
    await folderOf(path);
    await files.writePrivateJson(path, value);
  });

/** Creates the folder, or removes the permissions of others from an existing folder that is ours; never from one like /tmp. */
export async function privateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const { mode, uid } = await stat(path);
  const shared = (mode & 0o1000) !== 0 || uid !== (process.getuid?.() ?? uid);
  if ((mode & 0o077) !== 0 && !shared) await chmod(path, 0o700);
}

async function folderOf(path: string): Promise<void> {
  await privateFolder(dirname(path)).catch((cause: unknown) => {
    throw new PrivateFileError("UNWRITABLE", dirname(path), cause);
  });
}

const elsewhere = "Set RMM_CONFIG_DIR to a folder you can write to, or give the credential in RMM_TOKEN";
const remedies = {
  UNREADABLE: { exit: "failure", code: "CONFIG_UNUSABLE", hint: elsewhere },
  UNWRITABLE: { exit: "failure", code: "CONFIG_UNUSABLE", hint: elsewhere },
  NOT_JSON: { exit: "failure", code: "CONFIG_BROKEN", hint: "Repair or delete it" },
  LOCKED: { exit: "tryLater", code: "LOCKED", hint: "If no other rmm is running, delete that file" },
} as const;

/** Adds a hint on how to fix it. */
async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PrivateFileError)) throw error;
    throw new CliError(error.message, { ...remedies[error.code], cause: error });
  }
}
