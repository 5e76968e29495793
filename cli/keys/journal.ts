import { constants } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { systemReason } from "#sdk/node/system-reason";
import { CliError, usageError } from "../errors/cli-error.ts";
import { readOwnText } from "../input/read-text.ts";
import { privateFolder } from "../profile/private-files.ts";
import type { KeyKind } from "./key-kinds.ts";

/** A rotation that was started. For a day the server answers its idempotency key with the same secret. */
export interface Rotation {
  readonly kind: KeyKind;
  readonly id: string;
  readonly principalId: string | null;
  /** Partner of the principal, in system scope. */
  readonly partnerId?: string;
  readonly name: string;
  readonly organization: string | null;
  readonly idempotencyKey: string;
  readonly startedAt: string;
  /** New expiry of an enrollment key. It is part of the request, so a repeated request must send the same. */
  readonly expiresAt?: string;
}

/**
 * Unfinished rotations, written to disk before the request is sent. It holds no secret, but with it and the credential of
 * the run the secrets of its unfinished entries can be fetched for a day, so only its owner may read it.
 */
export interface Journal {
  readonly path: string;
  /** Started by an earlier run; their secrets were not received. */
  readonly unfinished: readonly Rotation[];
  /** How many entries are unfinished now. */
  readonly open: number;
  /** Returns when the entry is on disk. */
  begin(rotation: Rotation): Promise<void>;
  /** `delivered`: the secret is stored. `dropped`: nothing was rotated, or the result is no longer needed. */
  settle(rotation: Rotation, how: "delivered" | "dropped"): Promise<void>;
  /** Deletes the file if nothing is unfinished. */
  close(): Promise<void>;
}

const HEADER = "rmm rotation journal";

/** Reads a journal, or prepares one whose file is created with the first entry. */
export async function openJournal(path: string, server: string): Promise<Journal> {
  const text = await readOwnText(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    if (error instanceof CliError) throw error;
    throw unusable("read", path, error);
  });
  const unfinished = entriesOf(text, path, server);
  const open = new Map(unfinished.map((one) => [one.idempotencyKey, one]));
  let file: FileHandle | undefined;
  const append = async (line: object) => {
    try {
      file ??= await openForAppend(path, text, server);
      await file.appendFile(`${JSON.stringify(line)}\n`);
      await file.sync();
    } catch (error) {
      throw unusable("write", path, error as NodeJS.ErrnoException);
    }
  };
  return {
    path,
    unfinished,
    get open() {
      return open.size;
    },
    begin: async (rotation) => {
      await append({ event: "begin", ...rotation });
      open.set(rotation.idempotencyKey, rotation);
    },
    settle: async ({ idempotencyKey }, how) => {
      await append({ event: how, idempotencyKey });
      open.delete(idempotencyKey);
    },
    close: async () => {
      await file?.close();
      if (open.size === 0) await rm(path, { force: true });
    },
  };
}

/** Entries that were neither delivered nor dropped. After an incomplete line no request was sent. */
function entriesOf(text: string, path: string, server: string): Rotation[] {
  if (text === "") return [];
  const [first, ...lines] = text.split("\n").map(parsed);
  if (first?.["journal"] !== HEADER) {
    throw usageError(`${path} is no journal of \`rmm keys rotate\``, "Give --journal another path");
  }
  if (first["server"] !== server) {
    throw usageError(`${path} is the journal of ${String(first["server"])}`, "Give --journal another path");
  }
  const begun = new Map<unknown, Rotation>();
  for (const line of lines) {
    const { event, ...rest } = line ?? {};
    if (event === "begin") begun.set(rest["idempotencyKey"], rest as unknown as Rotation);
    else if (event !== undefined) begun.delete(rest["idempotencyKey"]);
  }
  return [...begun.values()];
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

async function openForAppend(path: string, text: string, server: string): Promise<FileHandle> {
  const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  if (text !== "") {
    const file = await open(path, O_WRONLY | O_APPEND | O_NOFOLLOW);
    await file.chmod(0o600);
    if (!text.endsWith("\n")) await file.appendFile("\n");
    return file;
  }
  await rm(path, { force: true });
  const file = await open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL, 0o600);
  await file.appendFile(`${JSON.stringify({ journal: HEADER, version: 1, server })}\n`);
  await syncFolder(dirname(path));
  return file;
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}

/** Makes the folder of a journal at the default place. */
export const prepareFolder = (path: string): Promise<void> =>
  privateFolder(dirname(path)).catch((error: NodeJS.ErrnoException) => {
    throw unusable("write", path, error);
  });

const unusable = (verb: string, path: string, error: NodeJS.ErrnoException): CliError =>
  new CliError(`Cannot ${verb} the journal ${path}: ${systemReason(error)}`, {
    exit: "failure",
    code: "JOURNAL_UNUSABLE",
    hint: "Nothing is rotated without one: give --journal a path that can be written",
  });
