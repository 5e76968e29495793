import type { Store } from "#server/db/dialect/index";
import { systemHandle } from "#server/db/unit-of-work";
import type { Log } from "#server/platform/log";
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
  readonly #store: Store;
  readonly #log: Log;
  #uses = new Map<string, Use>();
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
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
        this.#log.warn("key_usage.kept", { error: error as Error });
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

  async #save({ who, count, lastUsedAt }: Use): Promise<void> {
    const db = systemHandle(this.#store);
    if (who.kind === "partnerKey") {
      await db
        .updateTable("partnerServicePrincipalKeys")
        .set({ lastUsedAt })
        .where("id", "=", who.keyId)
        .where((eb) => eb.or([eb("lastUsedAt", "is", null), eb("lastUsedAt", "<", lastUsedAt)]))
        .execute();
      return;
    }
    // Two statements: the count must be added in any case, while the time may only move forward. The count comes last:
    // a failed flush is repeated, and a time may be written twice.
    const key = () => db.updateTable("apiKeys").where("id", "=", who.keyId).where("keyHash", "=", who.keyHash);
    await key()
      .set({ lastUsedAt })
      .where((eb) => eb.or([eb("lastUsedAt", "is", null), eb("lastUsedAt", "<", lastUsedAt)]))
      .execute();
    await key()
      .set((eb) => ({ usageCount: eb("usageCount", "+", count) }))
      .execute();
  }
}
