import { asSystem, type Exit } from "#server/db/as-system";
import type { Hooks } from "#server/room-hooks";
import type { KeyPrincipal } from "./principal.ts";

interface Use {
  readonly who: Pick<KeyPrincipal, "kind" | "keyId" | "keyHash">;
  count: number;
  lastUsedAt: string;
}

/** Half of the second that may be lost, so that the other half is left for writing. */
const FLUSH_AFTER_MS = 500;

/**
 * Counts what keys are used for without the request waiting: uses are gathered and added to the database within a
 * second and when the server stops. What could not be added stays gathered. Uses of a key's old material are not
 * added to the count of its new one.
 */
export class KeyUsage {
  readonly #exit: Exit;
  readonly #hooks: Pick<Hooks, "onKeyUsed">;
  #uses = new Map<string, Use>();
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();

  constructor(exit: Exit, hooks: Pick<Hooks, "onKeyUsed">) {
    this.#exit = exit;
    this.#hooks = hooks;
  }

  count(who: Use["who"], at: string): void {
    this.#add({ who, count: 1, lastUsedAt: at });
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_AFTER_MS).unref();
  }

  /** Resolves when everything counted so far is in the database, or was kept for the next time. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushing = this.#flushing.then(() => this.#write());
    return this.#flushing;
  }

  async #write(): Promise<void> {
    const uses = this.#uses;
    this.#uses = new Map();
    for (const use of uses.values()) {
      try {
        await this.#save(use);
      } catch (error) {
        this.#exit.log.warn("key_usage.kept", { error: error as Error });
        this.#add(use);
      }
    }
    if (this.#uses.size > 0) this.#timer ??= setTimeout(() => void this.flush(), FLUSH_AFTER_MS).unref();
  }

  #add(use: Use): void {
    const known = this.#uses.get(use.who.keyHash);
    if (!known) return void this.#uses.set(use.who.keyHash, { ...use });
    known.count += use.count;
    if (use.lastUsedAt > known.lastUsedAt) known.lastUsedAt = use.lastUsedAt;
  }

  async #save({ who: { kind, keyId, keyHash }, count, lastUsedAt }: Use): Promise<void> {
    const db = asSystem(this.#exit, "count key use");
    await this.#hooks.onKeyUsed({ db, kind, keyId, keyHash, count, lastUsedAt });
  }
}
