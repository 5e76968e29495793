import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { PrivateFileError } from "./private-file-error.ts";

/** Reads a JSON file; undefined when there is none. */
export async function readPrivateJson<T>(path: string): Promise<T | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new PrivateFileError("UNREADABLE", path, error);
  }
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new PrivateFileError("NOT_JSON", path);
  }
}

/**
 * Replaces a file as a whole: a reader at the same time, or after a crash, finds the old or the new text. The file is
 * 0600 whatever the umask and its previous mode; a folder that does not exist yet becomes 0700.
 */
export async function writePrivateJson(path: string, value: unknown): Promise<void> {
  const next = `${path}.${process.pid}.${crypto.randomUUID()}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
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
    throw new PrivateFileError("UNWRITABLE", path, error);
  }
}
