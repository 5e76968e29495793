import type { Worker } from "node:worker_threads";
import type { Row } from "../naming.ts";
import { namedBy } from "./sqlite-handle.ts";
import type { ThreadAnswer, ThreadRead } from "./sqlite-read-worker.ts";

/** What a thread is asked, and who is told. */
export interface Asked {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** Undefined = the server's own work. */
  readonly tenant: string | undefined;
  done(rows: Row[]): void;
  failed(error: Error): void;
}

/** How many statements' columns are remembered; they are asked for again after that. */
const COLUMNS_MAX = 500;

/** A thread that reads one statement after the other. */
export class ReadThread {
  readonly #worker: Worker;
  readonly #columns = new Map<string, readonly string[]>();
  #asked: Asked | undefined;
  #ended = false;

  /** `idle` is told after each answer, `ended` once, when the thread is no more. */
  constructor(worker: Worker, { idle, ended }: { idle(): void; ended(): void }) {
    this.#worker = worker;
    worker.unref();
    worker.on("message", (answer: ThreadAnswer) => {
      const asked = this.#take();
      if (asked) this.#settle(asked, answer);
      idle();
    });
    const lost = (error: Error) => {
      this.#take()?.failed(Object.assign(error, { code: "RMM_READ_THREAD" }));
      if (this.#ended) return;
      this.#ended = true;
      ended();
    };
    worker.on("error", (error) => lost(error instanceof Error ? error : new Error(String(error))));
    worker.on("exit", () => lost(new Error("a thread that reads the database ended")));
  }

  get asked(): Asked | undefined {
    return this.#asked;
  }

  ask(asked: Asked): void {
    const { sql, parameters } = asked;
    this.#asked = asked;
    // What is waited for keeps the process alive; an idle thread does not.
    this.#worker.ref();
    try {
      this.#worker.postMessage({ sql, parameters, named: this.#columns.has(sql) } satisfies ThreadRead);
    } catch (error) {
      this.#take()?.failed(error as Error);
    }
  }

  /** The statement runs on until SQLite has its next row, or its end. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #take(): Asked | undefined {
    const asked = this.#asked;
    this.#asked = undefined;
    this.#worker.unref();
    return asked;
  }

  #settle({ sql, done, failed }: Asked, answer: ThreadAnswer): void {
    if ("error" in answer) {
      failed(Object.assign(new Error(answer.error), { code: answer.code }));
      return;
    }
    if (answer.columns) {
      if (this.#columns.size >= COLUMNS_MAX) this.#columns.delete(this.#columns.keys().next().value as string);
      this.#columns.set(sql, answer.columns);
    }
    done(answer.rows.map(namedBy(answer.columns ?? this.#columns.get(sql) ?? [])));
  }
}
