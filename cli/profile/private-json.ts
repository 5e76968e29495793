import { chmod, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { CliError } from "../errors/cli-error.ts";
import { readOwnText } from "../input/read-text.ts";

/** Reads a JSON file; undefined when there is none. */
export async function readPrivateJson<T>(path: string): Promise<T | undefined> {
  let text: string;
  try {
    text = await readOwnText(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    if (error instanceof CliError) throw error;
    throw unusable("read", path, error);
  }
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new CliError(`${path} is not JSON`, { exit: "failure", code: "CONFIG_BROKEN", hint: "Repair or delete it" });
  }
}

/**
 * Replaces a file as a whole: a reader at the same time, or after a crash, finds the old or the new text. The file is
 * 0600 and its folder 0700, whatever the umask and their previous modes.
 */
export async function writePrivateJson(path: string, value: unknown): Promise<void> {
  const next = `${path}.${process.pid}.${crypto.randomUUID()}.tmp`;
  try {
    await privateFolder(dirname(path));
    const file = await open(next, "wx", 0o600);
    try {
      await file.writeFile(`${JSON.stringify(value, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true }).catch(() => undefined);
    throw unusable("write", path, error);
  }
}

/** Makes the folder, or takes from an existing one of ours what others may do in it; never from one like /tmp. */
export async function privateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const { mode, uid } = await stat(path);
  const shared = (mode & 0o1000) !== 0 || uid !== (process.getuid?.() ?? uid);
  if ((mode & 0o077) !== 0 && !shared) await chmod(path, 0o700);
}

function unusable(verb: "read" | "write", path: string, error: unknown): CliError {
  const { code } = error as NodeJS.ErrnoException;
  return new CliError(`Cannot ${verb} ${path}: ${code ?? "failed"}`, {
    exit: "failure",
    code: "CONFIG_UNUSABLE",
    hint: "Set RMM_CONFIG_DIR to a folder you can write to, or give the credential in RMM_TOKEN",
    cause: error,
  });
}
