import type { WebSocket } from "ws";
import { type CloseReason, closeCodes } from "./close-codes.ts";
import type { Outgoing } from "./frames.ts";

/** What may wait for a peer that does not read. */
const BUFFERED_MAX_BYTES = 1024 * 1024;

/** The sending side of a connection. */
export class Line {
  readonly #socket: WebSocket;
  readonly #gone = new AbortController();
  #closing = false;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.once("close", () => this.#gone.abort());
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  get open(): boolean {
    return !this.#closing && this.#socket.readyState === this.#socket.OPEN;
  }

  /** Everything sent so far has left this process. */
  get idle(): boolean {
    return this.#socket.bufferedAmount === 0;
  }

  send(frame: Outgoing): void {
    if (!this.open) return;
    this.#socket.send(JSON.stringify(frame));
    if (this.#socket.bufferedAmount > BUFFERED_MAX_BYTES) this.cut();
  }

  close(reason: CloseReason): void {
    if (!this.open) return;
    this.#closing = true;
    this.#socket.close(closeCodes[reason]);
  }

  /** Without waiting for the peer to agree. */
  cut(): void {
    this.#socket.terminate();
  }
}
