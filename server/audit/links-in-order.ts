import type { ChainLink } from "./chain.ts";

/** Of links that came too early: more than the ids of a busy chain ever change places. */
export const WAITING_MAX = 20_000;

/**
 * Hands links on by rising position that come by rising id, which is nearly the same order. `next` is the first position
 * that it has not handed on; `gaveUp` once too many wait, and it takes no more. A position that was handed on already is
 * handed on at once, for whoever looks at their order to see.
 */
export class LinksInOrder {
  readonly #hand: (link: ChainLink) => void;
  readonly #waitingMax: number;
  readonly #waiting = new Map<number, ChainLink>();
  next: number;
  gaveUp = false;

  constructor(first: number, hand: (link: ChainLink) => void, waitingMax: number) {
    this.#waitingMax = waitingMax;
    this.next = first;
    this.#hand = hand;
  }

  /** Whether some were not handed on: those before them never came. */
  get isHolding(): boolean {
    return this.gaveUp || this.#waiting.size > 0;
  }

  add(link: ChainLink): void {
    if (this.gaveUp) return;
    if (link.chainSeq < this.next) this.#hand(link);
    else if (link.chainSeq === this.next) {
      for (let due: ChainLink | undefined = link; due !== undefined; due = this.#take()) this.#hand(due);
    } else if (this.#waiting.size < this.#waitingMax) this.#waiting.set(link.chainSeq, link);
    else {
      this.gaveUp = true;
      this.#waiting.clear();
    }
  }

  #take(): ChainLink | undefined {
    this.next += 1;
    const due = this.#waiting.get(this.next);
    if (due !== undefined) this.#waiting.delete(this.next);
    return due;
  }
}
