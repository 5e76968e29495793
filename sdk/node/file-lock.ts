import { readlinkSync } from "node:fs";
import { mkdir, open, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PrivateFileError } from "./private-file-error.ts";

const BEAT_MS = 2_000;
const STALE_MS = 10_000;
const WAIT_MS = 60_000;

/**
 * Runs `work` while no other process holds the lock file. A holder shows that it lives by touching the
 * file; one that died is overtaken after ten seconds, one that died on this machine at once.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, waitMs: number = WAIT_MS): Promise<T> {
  const mark = `${placeOfPids()} ${process.pid} ${crypto.randomUUID()}`;
  await acquire(path, mark, Math.min(waitMs, WAIT_MS));
  const beat = setInterval(() => void touch(path).catch(() => undefined), BEAT_MS);
  beat.unref();
  try {
    return await work();
  } finally {
    clearInterval(beat);
    if ((await markIn(path)) === mark) await rm(path, { force: true });
  }
}

async function acquire(path: string, mark: string, waitMs: number): Promise<void> {
  const until = Date.now() + waitMs;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw new PrivateFileError("UNWRITABLE", dirname(path), cause);
  });
  for (;;) {
    if (await create(path, mark)) return;
    await overtakeIfStale(path);
    if (Date.now() > until) throw new PrivateFileError("LOCKED", path);
    await sleep(20 + Math.random() * 60);
  }
}

async function create(path: string, mark: string): Promise<boolean> {
  try {
    const file = await open(path, "wx", 0o600);
    await file.writeFile(mark);
    await file.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Moves a dead holder's file aside. If it was replaced meanwhile, what was moved is not the dead one: it goes back. */
async function overtakeIfStale(path: string): Promise<void> {
  const dead = await markIn(path);
  const touchedMs = (await stat(path).catch(() => undefined))?.mtimeMs;
  if (dead === undefined || touchedMs === undefined) return;
  if (Date.now() - touchedMs < STALE_MS && !isGone(dead)) return;
  const aside = `${path}.${crypto.randomUUID()}`;
  if (
    !(await rename(path, aside).then(
      () => true,
      () => false,
    ))
  )
    return;
  if ((await markIn(aside)) !== dead) await rename(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
}

/** Identifies the host or container in which a process id is valid. */
function placeOfPids(): string {
  try {
    return `${hostname()}/${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}

/** True if the holder ran on this host or container and its process has ended. */
function isGone(mark: string): boolean {
  const [place, pid] = mark.split(" ");
  if (place !== placeOfPids() || !/^\d+$/.test(pid ?? "")) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

const markIn = (path: string): Promise<string | undefined> => readFile(path, "utf8").catch(() => undefined);

async function touch(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now);
}
