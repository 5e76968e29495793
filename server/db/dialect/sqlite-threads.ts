import type { Worker } from "node:worker_threads";
import { startWorker } from "../../platform/start-worker.ts";
import type { Row } from "../naming.ts";
import { encoded, namedBy } from "./sqlite-handle.ts";
import type { SqliteConnection } from "./sqlite-library.ts";
import type { ThreadAnswer, ThreadRead } from "./sqlite-read-worker.ts";

/** Statements on a smaller database are short, and read at once: the way to a thread is not free. */
export const LARGE_BYTES = 16 * 1_024 * 1_024;

const THREADS_MAX = 2;
/** How often the size of the database is looked at. */
const LOOK_MS = 1_000;

/** Reads of a large database, in threads of their own: SQLite would hold up every other request meanwhile. */
export interface ReadThreads {
  areNeeded(): boolean;
  /** Sees what was committed when it is asked. */
  rows(sql: string, parameters: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

interface Asked extends ThreadRead {
  done(rows: Row[]): void;
  failed(error: Error): void;
}

interface Thread {
  readonly worker: Worker;
  /** Of each statement that it has answered. */
  readonly columns: Map<string, readonly string[]>;
  asked: Asked | undefined;
}

export function readThreads(file: string, reader: SqliteConnection, largeBytes: number): ReadThreads {
  const threads = new Set<Thread>();
  const waiting: Asked[] = [];
  let [isLarge, lookedMs] = [false, Number.NEGATIVE_INFINITY];
  let starting = 0;
  let closed = false;

  function sizeOf(): number {
    const pragma = (name: string) => Number(reader.pragma(name, { simple: true }));
    return pragma("page_count") * pragma("page_size");
  }

  /** Gives what waits to idle threads; they start when they are first needed. */
  function pass(): void {
    for (const thread of threads) {
      if (thread.asked) continue;
      const asked = waiting.shift();
      if (!asked) return;
      thread.asked = asked;
      // What is waited for keeps the process alive; an idle thread does not.
      thread.worker.ref();
      thread.worker.postMessage({ sql: asked.sql, parameters: asked.parameters } satisfies ThreadRead);
    }
    if (waiting.length > starting && threads.size + starting < THREADS_MAX) void start();
  }

  async function start(): Promise<void> {
    starting += 1;
    try {
      add(await startWorker(import.meta.url, "sqlite-read-worker", { file }));
    } catch (error) {
      for (const asked of waiting.splice(0)) asked.failed(error as Error);
    } finally {
      starting -= 1;
    }
    pass();
  }

  function add(worker: Worker): void {
    if (closed) return void worker.terminate();
    const thread: Thread = { worker, columns: new Map(), asked: undefined };
    threads.add(thread);
    worker.unref();
    worker.on("message", (answer: ThreadAnswer) => {
      const { asked } = thread;
      thread.asked = undefined;
      worker.unref();
      if (asked) settle(thread, asked, answer);
      pass();
    });
    const lost = (error: Error) => {
      if (!threads.delete(thread)) return;
      thread.asked?.failed(error);
      pass();
    };
    worker.on("error", (error) => lost(error instanceof Error ? error : new Error(String(error))));
    worker.on("exit", () => lost(new Error("a thread that reads the database ended")));
  }

  return {
    areNeeded() {
      const nowMs = performance.now();
      if (isLarge || nowMs - lookedMs < LOOK_MS) return isLarge;
      lookedMs = nowMs;
      isLarge = sizeOf() >= largeBytes;
      return isLarge;
    },
    rows(sql, parameters) {
      if (closed) throw new Error("the database is closed");
      return new Promise((done, failed) => {
        waiting.push({ sql, parameters: encoded(parameters), done, failed });
        pass();
      });
    },
    async close() {
      closed = true;
      await Promise.all([...threads].map(({ worker }) => worker.terminate()));
    },
  };
}

function settle({ columns }: Thread, { sql, done, failed }: Asked, answer: ThreadAnswer): void {
  if ("error" in answer) {
    failed(Object.assign(new Error(answer.error), { code: answer.code }));
    return;
  }
  if (answer.columns) columns.set(sql, answer.columns);
  done(answer.rows.map(namedBy(columns.get(sql) ?? [])));
}
