import { type ReadBounds, ReadGivenUp } from "../read-bounds.ts";
import { WaitingReads } from "./waiting-reads.ts";

interface Waiting {
  readonly tenant: string;
  begin(): void;
}

/**
 * Reads that may take long have so many connections at once and leave the others to all that is short; a tenant has all of
 * them but one. Who waits gives up with its request.
 */
export class LongReads {
  readonly #most: number;
  readonly #running = new Set<Waiting>();
  readonly #waiting = new WaitingReads<Waiting>();

  constructor(most: number) {
    this.#most = most;
  }

  async run<R>(bounds: ReadBounds, read: () => Promise<R>): Promise<R> {
    const mine = await this.#turn(bounds);
    try {
      return await read();
    } finally {
      this.#running.delete(mine);
      this.#pass();
    }
  }

  #turn({ tenant = "", gone, untilMs }: ReadBounds): Promise<Waiting> {
    return new Promise((begin, refuse) => {
      const giveUp = (code: ReadGivenUp["code"]) => {
        over();
        if (this.#waiting.remove(mine)) refuse(new ReadGivenUp(code));
      };
      const left = () => giveUp("RMM_READ_LEFT");
      const leftMs = untilMs === undefined ? undefined : Math.max(0, untilMs - performance.now());
      const timer = leftMs === undefined ? undefined : setTimeout(() => giveUp("RMM_READ_LATE"), leftMs);
      const over = () => {
        clearTimeout(timer);
        gone.removeEventListener("abort", left);
      };
      const mine: Waiting = { tenant, begin: () => [over(), begin(mine)] };
      gone.addEventListener("abort", left);
      this.#waiting.push(mine);
      if (gone.aborted) left();
      else this.#pass();
    });
  }

  #pass(): void {
    while (this.#running.size < this.#most) {
      const running = [...this.#running].map((asked) => ({ asked }));
      const next = this.#waiting.shift(running, this.#most - 1);
      if (!next) return;
      this.#running.add(next);
      next.begin();
    }
  }
}
