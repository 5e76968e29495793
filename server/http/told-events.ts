import type { AnyEndpoint } from "#contract/core/endpoint";
import type { EventKind } from "#contract/core/events";
import type { EventRow } from "#server/events/emit";

/** The events of one call, until the closing step writes them. */
export class ToldEvents {
  readonly #endpoint: AnyEndpoint;
  #rows: EventRow[] = [];

  constructor(endpoint: AnyEndpoint) {
    this.#endpoint = endpoint;
  }

  /** A kind that the endpoint does not declare fails the call: nothing is told that nobody was told of. */
  add(kind: EventKind, row: EventRow): void {
    const { emits, mayEmit, noun, verb } = this.#endpoint;
    if (!emits.includes(kind) && !mayEmit.includes(kind)) throw new Error(`${noun}.${verb} does not declare ${kind}`);
    this.#rows.push(row);
  }

  /** What is to be written, once. */
  take(): EventRow[] {
    return this.#rows.splice(0);
  }

  /** The change they tell of was rolled back. */
  drop(): void {
    this.#rows = [];
  }
}
