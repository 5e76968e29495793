import { close, fdatasync, open } from "node:fs";
import { promisify } from "node:util";

const [openFile, syncFile, closeFile] = [promisify(open), promisify(fdatasync), promisify(close)];

/**
 * The write-ahead log of a database that stays open: as long as it does, the log is one file. (Closing a second
 * descriptor of the database itself would drop its locks; the log has none.)
 */
export class SqliteLog {
  readonly #path: string;
  #opened: Promise<number> | undefined;

  constructor(file: string) {
    this.#path = `${file}-wal`;
  }

  /** Every commit so far is on the disk: here, or in the database, which SQLite syncs when it writes the log back. */
  async sync(): Promise<void> {
    this.#opened ??= openFile(this.#path, "r+");
    await syncFile(await this.#opened);
  }

  async close(): Promise<void> {
    if (this.#opened) await closeFile(await this.#opened);
    this.#opened = undefined;
  }
}
