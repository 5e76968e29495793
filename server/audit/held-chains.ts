import type { ChainRef } from "./chain.ts";

const keyOf = ({ kind, id }: ChainRef) => kind + id;

/** Chains whose entries could not be stored, each left alone until it is tried again. */
export class HeldChains {
  readonly #held = new Map<string, { chain: ChainRef; failures: number; until: number }>();
  readonly #backoff: (failures: number) => number;

  constructor(backoff: (failures: number) => number) {
    this.#backoff = backoff;
  }

  /** Returns how often it has failed without a success in between. */
  hold(chain: ChainRef): number {
    const failures = (this.#held.get(keyOf(chain))?.failures ?? 0) + 1;
    this.#held.set(keyOf(chain), { chain, failures, until: performance.now() + this.#backoff(failures) });
    return failures;
  }

  release(chain: ChainRef): void {
    this.#held.delete(keyOf(chain));
  }

  chains(): ChainRef[] {
    return this.#untried().map(({ chain }) => chain);
  }

  /** Until the first of them is tried again. */
  nextMs(): number {
    return Math.min(...this.#untried().map(({ until }) => until - performance.now()));
  }

  #untried() {
    return [...this.#held.values()].filter(({ until }) => until > performance.now());
  }
}
