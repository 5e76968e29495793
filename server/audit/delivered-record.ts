import { open, readFile, rename } from "node:fs/promises";

/** How far a place outside has been told. */
export interface Delivered {
  /** Of the anchor file, by its device and inode. */
  readonly file: string;
  /** Everything before this byte of it was delivered. */
  readonly offset: number;
  /** ISO-8601; null while it takes what it is sent. */
  readonly failingSince: string | null;
  readonly toldAt: string | null;
}

const NOTHING: Delivered = { file: "", offset: 0, failingSince: null, toldAt: null };

/**
 * Kept in a file beside the data and not in the database: who can write there cannot have a statement passed over. If it is
 * lost, everything is delivered once more, which changes nothing.
 */
export function deliveredRecord(path: string) {
  const all = async (): Promise<Record<string, Delivered>> => {
    try {
      return JSON.parse(await readFile(path, "utf8")) as Record<string, Delivered>;
    } catch {
      return {};
    }
  };
  let writing = Promise.resolve();
  const write = async (key: string, state: Delivered): Promise<void> => {
    const draft = `${path}.${process.pid}.tmp`;
    const file = await open(draft, "w", 0o600);
    try {
      await file.writeFile(JSON.stringify({ ...(await all()), [key]: state }));
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  };
  return {
    read: async (key: string): Promise<Delivered> => ({ ...NOTHING, ...(await all())[key] }),
    /** One after the other: targets share the file. */
    write(key: string, state: Delivered): Promise<void> {
      writing = writing.then(() => write(key, state));
      return writing;
    },
  };
}
