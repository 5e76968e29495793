import type { ChainRef } from "./chain.ts";

const keyOf = ({ kind, id }: ChainRef) => kind + id;

interface Held {
  readonly chain: ChainRef;
  readonly failures: number;
  /** How many of the failures were refusals of what an entry says. */
  readonly refusals: number;
  readonly until: number;
}

/** Chains whose entries could not be stored, each left alone until it is tried again. */
export class HeldChains {
  readonly #held = new Map<string, Held>();
  readonly #backoff: (failures: number) => number;

  constructor(backoff: (failures: number) => number) {
    this.#backoff = backoff;
  }

  /** Returns how often it has failed without a success in between. */
  hold(chain: ChainRef, isRefusal: boolean): number {
    const failures = (this.#held.get(keyOf(chain))?.failures ?? 0) + 1;
    const refusals = this.refusals(chain) + Number(isRefusal);
    const until = performance.now() + this.#backoff(failures);
    this.#held.set(keyOf(chain), { chain, failures, refusals, until });
    return failures;
  }

  refusals(chain: ChainRef): number {
    return this.#held.get(keyOf(chain))?.refusals ?? 0;
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
