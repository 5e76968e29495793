import { parentPort, workerData } from "node:worker_threads";
import { connectSqlite } from "./sqlite-connection.ts";

/** `pages`: those that the log had. */
export type CheckpointAnswer = { readonly error: string } | { readonly pages: number };

/** Body of the thread: at each message it writes back what the log has by then, and waits for no one. */
function main(file: string): void {
  const raw = connectSqlite(file, { cacheMb: 1 });
  const answer = (): CheckpointAnswer => {
    try {
      const [row] = raw.pragma("wal_checkpoint(PASSIVE)") as { log: number }[];
      return { pages: Math.max(0, row?.log ?? 0) };
    } catch (error) {
      return { error: (error as Error).message };
    }
  };
  parentPort?.on("message", () => parentPort?.postMessage(answer()));
}

if (parentPort) main((workerData as { file: string }).file);
