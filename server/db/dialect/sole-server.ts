import { setTimeout as pause } from "node:timers/promises";
import { openSqliteFile } from "./sqlite-library.ts";

/** Long enough for a server that is just stopping. */
const PATIENCE_MS = 5_000;
const AGAIN_MS = 100;

/**
 * Holds an SQLite database for one server, until the answer is called or the process ends, however it ends. A second
 * server would take the first one's unfinished work for that of a dead process, and would not hear its signals. Programs
 * that only read or write rows, as `rmm server create-admin`, need not hold it. False where another server does.
 */
export async function holdAlone(file: string, patienceMs = PATIENCE_MS): Promise<(() => void) | false> {
  // A file of its own: a lock on the database itself would keep everybody else out.
  const lock = openSqliteFile(`${file}-server`, { timeout: 0 });
  for (const end = performance.now() + patienceMs; ; await pause(AGAIN_MS)) {
    try {
      lock.exec("begin exclusive");
      return () => void lock.close();
    } catch (error) {
      if ((error as { code?: string }).code !== "SQLITE_BUSY") throw error;
      if (performance.now() < end) continue;
      lock.close();
      return false;
    }
  }
}
