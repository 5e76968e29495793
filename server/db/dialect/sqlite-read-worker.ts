import { parentPort, workerData } from "node:worker_threads";
import { connectSqlite, type KeptStatement, keptStatements } from "./sqlite-connection.ts";

export interface ThreadRead {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Columns come with the first answer to a statement. */
export type ThreadAnswer =
  | { readonly rows: unknown[][]; readonly columns: readonly string[] | undefined }
  | { readonly error: string; readonly code: string | undefined };

const CACHE_MB = 16;

/** Body of the thread: reads one statement after the other, each in a transaction of its own. */
function main(file: string): void {
  const kept = keptStatements(connectSqlite(file, { readonly: true, cacheMb: CACHE_MB }));
  const told = new WeakSet<KeptStatement>();
  const answerTo = ({ sql, parameters }: ThreadRead): ThreadAnswer => {
    try {
      const statement = kept(sql);
      const rows = statement.rows(parameters);
      const columns = told.has(statement) ? undefined : statement.columns;
      told.add(statement);
      return { rows, columns };
    } catch (error) {
      const { message, code } = error as Error & { code?: string };
      return { error: message, code };
    }
  };
  parentPort?.on("message", (asked: ThreadRead) => parentPort?.postMessage(answerTo(asked)));
}

if (parentPort) main((workerData as { file: string }).file);
