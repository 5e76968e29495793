const REMEMBERED = 50_000;

/** Hashes of keys and agent tokens that existed at their last lookup: such a key is not a guess. */
export class KnownKeys {
  readonly #hashes = new Set<string>();

  has(keyHash: string): boolean {
    return this.#hashes.has(keyHash);
  }

  add(keyHash: string): void {
    if (this.#hashes.size >= REMEMBERED) this.#hashes.clear();
    this.#hashes.add(keyHash);
  }

  delete(keyHash: string): void {
    this.#hashes.delete(keyHash);
  }
}
