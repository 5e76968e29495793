import { randomBytes } from "node:crypto";
import { link, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CliError } from "../errors/cli-error.ts";
import { readOwnText } from "../input/read-text.ts";

/**
 * Writes a secret so that the file is there whole or not at all: a file of its own beside the place, 0600 and
 * synced, is linked to its name. A file that is there already is never overwritten; the same content is fine.
 */
export async function writeSecretFile(path: string, secret: string): Promise<void> {
  await makeFolder(dirname(path));
  const draft = draftOf(path);
  try {
    await writeSynced(draft, `${secret}\n`);
    await place(draft, path, secret);
    await removeTwins(path, secret);
  } finally {
    await rm(draft, { force: true });
  }
  await syncFolder(dirname(path));
}

/** Where a file stands in the way the system says that it exists, as it does of a file that must be new. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EEXIST" ? Object.assign(error, { code: "ENOTDIR" }) : error;
  });
}

/** Drafts of this secret that a killed run left: the secret would otherwise stay beside its file. */
async function removeTwins(path: string, secret: string): Promise<void> {
  const start = `.${basename(path)}.`;
  const names = await readdir(dirname(path)).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(start) && /\.[0-9a-f]{12}\.tmp$/.test(one))) {
    const twin = join(dirname(path), name);
    if ((await contentOf(twin))?.trim() === secret) await rm(twin, { force: true });
  }
}

/** Makes the folders (0700) and proves that a file can be made there. Throws the system's error. */
export async function probeSecretFile(path: string): Promise<void> {
  await makeFolder(dirname(path));
  const draft = draftOf(path);
  try {
    await writeSynced(draft, "");
  } finally {
    await rm(draft, { force: true });
  }
}

/** Unguessable, so that no one can have put a link there. */
const draftOf = (path: string): string =>
  join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

const noLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

async function place(draft: string, path: string, secret: string): Promise<void> {
  try {
    await link(draft, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return refuseOther(path, secret);
    // Another run placed the same secret, and took this draft for a dead one's.
    if (code === "ENOENT" && (await contentOf(path))?.trim() === secret) return;
    if (!noLinks.has(code ?? "")) throw error;
    // A file system without hard links: the check and the rename are two steps, the best there is.
    if ((await contentOf(path)) !== undefined) return refuseOther(path, secret);
    await rename(draft, path);
  }
}

async function refuseOther(path: string, secret: string): Promise<void> {
  if ((await contentOf(path))?.trim() === secret) return;
  throw new CliError(`${path} exists with other content and was left alone`, {
    exit: "failure",
    code: "SINK_OCCUPIED",
  });
}

const contentOf = (path: string): Promise<string | undefined> => readOwnText(path).catch(() => undefined);

/** The name must survive a power cut as the content does; not every file system lets a folder be synced. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}
