import { constants } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { CliError, usageError } from "../errors/cli-error.ts";
import { readOwnText } from "../input/read-text.ts";
import { privateFolder } from "../profile/private-files.ts";
import type { KeyKind } from "./key-kinds.ts";

/** One rotation that was begun: the server answers its idempotency key with the same secret for a day. */
export interface Rotation {
  readonly kind: KeyKind;
  readonly id: string;
  readonly principalId: string | null;
  /** Whose principal, for system scope. */
  readonly partnerId?: string;
  readonly name: string;
  readonly organization: string | null;
  readonly idempotencyKey: string;
  readonly startedAt: string;
  /** Of an enrollment key: its new end. Part of the request, so a repeated one has to say the same. */
  readonly expiresAt?: string;
}

/**
 * What was begun and is not finished, on disk before the server hears of it. It holds no secret; but who has it and
 * the credential of the run can fetch the secrets of its unfinished entries for a day, so it is its owner's alone.
 */
export interface Journal {
  readonly path: string;
  /** Begun by an earlier run; their secrets did not arrive. */
  readonly unfinished: readonly Rotation[];
  /** How many entries are unfinished now. */
  readonly open: number;
  /** Returns when the entry is on disk. */
  begin(rotation: Rotation): Promise<void>;
  /** `delivered`: the secret is safe. `dropped`: nothing was rotated, or what was is of no use any more. */
  settle(rotation: Rotation, how: "delivered" | "dropped"): Promise<void>;
  /** Takes the file away when nothing is unfinished. */
  close(): Promise<void>;
}

const HEADER = "rmm rotation journal";

/** Reads a journal, or prepares one that is made with the first entry. */
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

/** What was begun and neither delivered nor dropped. A line that a kill tore was followed by no request. */
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

const unusable = (verb: string, path: string, { code }: NodeJS.ErrnoException): CliError =>
  new CliError(`Cannot ${verb} the journal ${path}: ${code ?? "failed"}`, {
    exit: "failure",
    code: "JOURNAL_UNUSABLE",
    hint: "Nothing is rotated without one: give --journal a path that can be written",
  });
