import type { Kysely, Transaction } from "kysely";
import { type Exit, noteExit, SYSTEM_WALL } from "./as-system.ts";
import { insideTransaction } from "./open-transaction.ts";
import { type Scope, wallOf } from "./scope.ts";
import { scoped } from "./scoped.ts";
import type { SystemReason } from "./system-reasons.ts";
import type { Database } from "./tables.ts";

/** Reads only: writing takes a transaction, so that a mutation cannot miss its audit entry. */
export type Reader = Pick<Kysely<Database>, "selectFrom" | "with" | "fn" | "dynamic">;
export type Tx = Transaction<Database>;

/**
 * All database work of one request or job, under one tenant scope. A transaction inside a
 * transaction joins it; `asSystem` lifts the scope for its own length only.
 */
export class UnitOfWork {
  readonly #exit: Exit;
  readonly #scope: Scope;
  #handle: { base: Kysely<Database>; scoped: Kysely<Database> } | undefined;
  #open: Transaction<Database> | undefined;
  #wall: string;
  #beforeCommit: ((tx: Tx) => Promise<void>) | undefined;
  #afterCommit: (() => void)[] = [];
  #afterRollback: (() => void) | undefined;
  #closes = false;

  constructor(exit: Exit, scope: Scope) {
    this.#exit = exit;
    this.#scope = scope;
    this.#wall = wallOf(scope);
  }

  get scope(): Scope {
    return this.#scope;
  }

  /** Scoped reads; inside a transaction they see its writes. */
  get reader(): Reader {
    const base = this.#open ?? this.#exit.store.connection(this.#wall);
    return this.#scoped(base);
  }

  /** True inside a transaction that ends with the closing step. */
  get closes(): boolean {
    return this.#closes;
  }

  /** Runs `work` and the closing step of the unit (audit entry, events, idempotency record) atomically. */
  async transaction<R>(work: (tx: Tx) => Promise<R>): Promise<R> {
    if (this.#open) return work(this.#scoped(this.#open));
    const result = await this.#closed(work);
    for (const wake of this.#afterCommit.splice(0)) wake();
    return result;
  }

  async #closed<R>(work: (tx: Tx) => Promise<R>): Promise<R> {
    this.#closes = true;
    try {
      return await this.#begin(this.#wall, async (raw) => {
        const done = await work(this.#scoped(raw));
        const closing = this.#beforeCommit;
        // Nothing comes after it, and the wall stands again with the end of the transaction.
        if (closing) await this.#lifted(raw, closing, { last: true });
        return done;
      });
    } catch (error) {
      this.#afterRollback?.();
      throw error;
    } finally {
      this.#closes = false;
    }
  }

  /** Set once by the pipeline: runs, unscoped, as the last step of the outermost transaction. */
  beforeCommit(step: (tx: Tx) => Promise<void>): void {
    this.#beforeCommit = step;
  }

  /** Set once by the pipeline: runs when such a transaction failed. */
  afterRollback(step: () => void): void {
    this.#afterRollback = step;
  }

  /** Runs once the outermost transaction is durable. */
  afterCommit(step: () => void): void {
    this.#afterCommit.push(step);
  }

  /**
   * The exit from the tenant scope (server/README.md, "Five locks on tenancy") of a request. Joins an open transaction
   * or makes its own.
   */
  async asSystem<R>(reason: SystemReason, work: (tx: Tx) => Promise<R>): Promise<R> {
    noteExit(this.#exit, reason);
    if (this.#open) return this.#lifted(this.#open, work);
    return this.#begin(SYSTEM_WALL, (raw) => work(raw));
  }

  /** Unscoped reads outside any transaction of their own. */
  async readAsSystem<R>(reason: SystemReason, work: (db: Reader) => Promise<R>): Promise<R> {
    if (this.#open) return this.asSystem(reason, work);
    noteExit(this.#exit, reason);
    return work(this.#exit.store.connection(SYSTEM_WALL));
  }

  async #begin<R>(wall: string, work: (raw: Transaction<Database>) => Promise<R>): Promise<R> {
    const before = this.#wall;
    return this.#exit.store
      .connection(wall)
      .transaction()
      .execute(async (raw) => {
        this.#open = raw;
        this.#wall = wall;
        try {
          return await (this.#exit.store.watched ? insideTransaction(() => work(raw)) : work(raw));
        } finally {
          this.#open = undefined;
          this.#wall = before;
        }
      });
  }

  async #lifted<R>(
    raw: Transaction<Database>,
    work: (tx: Tx) => Promise<R>,
    { last = false }: { last?: boolean } = {},
  ): Promise<R> {
    const before = this.#wall;
    if (before === SYSTEM_WALL) return work(raw);
    await this.#exit.store.lift(raw);
    this.#wall = SYSTEM_WALL;
    try {
      return await work(raw);
    } finally {
      this.#wall = before;
      // A transaction that failed takes no more statements, and puts the wall up by its end.
      if (!last) await this.#exit.store.lower(raw).catch(() => undefined);
    }
  }

  /** Made once for the connection in use: a handle is asked for at every query. */
  #scoped<K extends Kysely<Database>>(base: K): K {
    if (this.#handle?.base !== base) this.#handle = { base, scoped: scoped(base, this.#scope) };
    return this.#handle.scoped as K;
  }
}
