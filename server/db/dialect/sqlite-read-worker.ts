import { parentPort, workerData } from "node:worker_threads";
import { connectSqlite, keptStatements } from "./sqlite-connection.ts";

export interface ThreadRead {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** The names of its columns are known. */
  readonly named: boolean;
}

export type ThreadAnswer =
  | { readonly rows: unknown[][]; readonly columns: readonly string[] | undefined }
  | { readonly error: string; readonly code: string | undefined };

/** Body of the thread: reads one statement after the other, each in a transaction of its own. */
function main(file: string): void {
  const kept = keptStatements(connectSqlite(file, { readonly: true }));
  const answerTo = ({ sql, parameters, named }: ThreadRead): ThreadAnswer => {
    try {
      const statement = kept(sql);
      return { rows: statement.rows(parameters), columns: named ? undefined : statement.columns };
    } catch (error) {
      const { message, code } = error as Error & { code?: string };
      return { error: message, code };
    }
  };
  parentPort?.on("message", (asked: ThreadRead) => parentPort?.postMessage(answerTo(asked)));
}

if (parentPort) main((workerData as { file: string }).file);
