import type { Worker } from "node:worker_threads";
import { startWorker } from "../../platform/start-worker.ts";
import type { CheckpointAnswer } from "./sqlite-checkpoint-worker.ts";
import { CHECKPOINT_PAGES } from "./sqlite-connection.ts";
import type { Turns } from "./turns.ts";

/** How many pages a row makes at first; it is measured from then on. */
const PAGES_PER_ROW = 2;

interface CheckpointOptions {
  /** Pages of the log that are written back together. */
  readonly pages?: number;
}

/**
 * Writes the log back into the database in a thread (server/README.md, "Decisions"): in a commit it would hold up the
 * process for as long as the disk takes for thousands of pages.
 */
export class Checkpoints {
  readonly #file: string;
  readonly #writing: Turns;
  readonly #pages: number;
  #worker: Promise<Worker> | undefined;
  #running: Promise<void> | undefined;
  #closed = false;
  #rows = 0;
  #pagesPerRow = PAGES_PER_ROW;

  constructor(file: string, writing: Turns, { pages = CHECKPOINT_PAGES }: CheckpointOptions = {}) {
    this.#file = file;
    this.#writing = writing;
    this.#pages = pages;
  }

  /** So many rows were committed. */
  committed(rows: number): void {
    this.#rows += rows;
    if (this.#running || this.#closed || this.#rows * this.#pagesPerRow < this.#pages) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when nothing is written back any more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    await this.#drop();
  }

  /** What is written meanwhile is little, and once nobody writes it is nothing: the next writer begins the log anew. */
  async #run(): Promise<void> {
    const rows = this.#rows;
    try {
      const { pages } = await this.#write();
      this.#pagesPerRow = Math.min(Math.max(pages / rows, 0.1), this.#pages);
      await this.#write();
      await this.#writing.alone(() => this.#write());
    } catch {
      // Another thread tries it with the next rows; should it fail too, SQLite does it by itself in a commit.
      await this.#drop();
    }
    this.#rows = 0;
  }

  async #drop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await (await worker?.catch(() => undefined))?.terminate();
  }

  async #start(): Promise<Worker> {
    const worker = await startWorker(import.meta.url, "sqlite-checkpoint-worker", { file: this.#file });
    // One that ends while nothing is asked of it is met by the next question.
    return worker.on("error", () => undefined);
  }

  async #write(): Promise<{ pages: number }> {
    this.#worker ??= this.#start();
    const worker = await this.#worker;
    if (worker.threadId < 0) throw new Error("the thread that writes the log back has ended");
    worker.ref();
    try {
      return await new Promise((done, failed) => {
        const answered = (answer: CheckpointAnswer) => {
          worker.off("error", failed).off("exit", ended);
          if ("error" in answer) failed(new Error(answer.error));
          else done(answer);
        };
        const ended = () => failed(new Error("the thread that writes the log back ended"));
        worker.once("message", answered).once("error", failed).once("exit", ended);
        worker.postMessage("write");
      });
    } finally {
      worker.unref();
    }
  }
}
