import { startWorker } from "../../platform/start-worker.ts";
import type { Row } from "../naming.ts";
import { type ReadBounds, ReadGivenUp } from "../read-bounds.ts";
import { encoded } from "./sqlite-handle.ts";
import type { SqliteConnection } from "./sqlite-library.ts";
import { type Asked, ReadThread } from "./sqlite-thread.ts";
import { WaitingReads } from "./waiting-reads.ts";

/** Statements on a smaller database are short, and read at once: the way to a thread is not free. */
export const LARGE_BYTES = 16 * 1_024 * 1_024;

const THREADS_MAX = 2;
/** Threads whose statement was given up and has not ended yet, beside those that read. */
const ENDING_MAX = 2;
/** Statements of requests that wait for a thread; beyond that, tenants that have most are refused first. */
export const WAITING_MAX = 128;
/** As long as a statement of a request may take, its wait included. */
const READ_MS = 30_000;
/** How often the size of the database is looked at. */
const LOOK_MS = 1_000;

/** Reads of a large database, in threads of their own: SQLite would hold up every other request meanwhile. */
export interface ReadThreads {
  areNeeded(): boolean;
  /** Sees what was committed when it is asked. The server's own work has no bounds and is never refused. */
  rows(sql: string, parameters: readonly unknown[], bounds?: ReadBounds): Promise<Row[]>;
  close(): Promise<void>;
}

export function readThreads(file: string, reader: SqliteConnection, largeBytes: number): ReadThreads {
  const threads = new Set<ReadThread>();
  const ending = new Set<ReadThread>();
  const waiting = new WaitingReads<Asked>();
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
      while (!thread.asked) {
        const asked = waiting.shift([...threads, ...ending], THREADS_MAX + ENDING_MAX - 1);
        if (!asked) return;
        thread.ask(asked);
      }
    }
    const room = Math.min(THREADS_MAX, THREADS_MAX + ENDING_MAX - ending.size);
    if (waiting.length > starting && threads.size + starting < room) void start();
  }

  async function start(): Promise<void> {
    starting += 1;
    try {
      const worker = await startWorker(import.meta.url, "sqlite-read-worker", { file });
      const thread: ReadThread = new ReadThread(worker, {
        idle: pass,
        ended() {
          threads.delete(thread);
          ending.delete(thread);
          pass();
        },
      });
      if (closed) await thread.terminate();
      else threads.add(thread);
    } catch (error) {
      for (const asked of waiting.clear()) asked.failed(error as Error);
    } finally {
      starting -= 1;
    }
    pass();
  }

  function drop(asked: Asked, code: ReadGivenUp["code"]): void {
    if (waiting.remove(asked)) asked.failed(new ReadGivenUp(code));
  }

  function makeRoom({ tenant }: ReadBounds): void {
    if (waiting.length < WAITING_MAX) return;
    const excess = waiting.excess(tenant);
    if (!excess) throw new ReadGivenUp("RMM_READ_FULL");
    drop(excess, "RMM_READ_FULL");
  }

  /** A statement that runs takes its thread along: SQLite cannot be told to stop. */
  function expire(asked: Asked, code: ReadGivenUp["code"] = "RMM_READ_LATE"): void {
    drop(asked, code);
    const thread = [...threads].find((one) => one.asked === asked);
    if (!thread) return;
    threads.delete(thread);
    ending.add(thread);
    asked.failed(new ReadGivenUp(code));
    void thread.terminate();
    pass();
  }

  function within({ gone, untilMs, apart }: ReadBounds, asked: Asked): Asked {
    // What may take long ends with its caller's leaving; for the rest a new thread would cost more.
    const left = () => (apart ? expire : drop)(bounded, "RMM_READ_LEFT");
    const nowMs = performance.now();
    const timer = setTimeout(
      () => expire(bounded),
      Math.max(0, Math.min(READ_MS, (untilMs ?? nowMs + READ_MS) - nowMs)),
    );
    gone.addEventListener("abort", left);
    const over = () => {
      clearTimeout(timer);
      gone.removeEventListener("abort", left);
    };
    const bounded: Asked = {
      ...asked,
      done: (rows) => [over(), asked.done(rows)],
      failed: (error) => [over(), asked.failed(error)],
    };
    return bounded;
  }

  return {
    areNeeded() {
      const nowMs = performance.now();
      if (isLarge || nowMs - lookedMs < LOOK_MS) return isLarge;
      lookedMs = nowMs;
      isLarge = sizeOf() >= largeBytes;
      return isLarge;
    },
    rows(sql, parameters, bounds) {
      if (closed) throw new Error("the database is closed");
      if (bounds?.gone.aborted) throw new ReadGivenUp("RMM_READ_LEFT");
      if (bounds) makeRoom(bounds);
      return new Promise((done, failed) => {
        const asked = { sql, parameters: encoded(parameters), done, failed, tenant: bounds && (bounds.tenant ?? "") };
        waiting.push(bounds ? within(bounds, asked) : asked);
        pass();
      });
    },
    async close() {
      closed = true;
      for (const asked of waiting.clear()) asked.failed(new Error("the database is closed"));
      await Promise.all([...threads, ...ending].map((thread) => thread.terminate()));
    },
  };
}
