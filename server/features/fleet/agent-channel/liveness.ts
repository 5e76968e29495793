import { SECOND } from "#server/platform/clock";

const PING_EVERY_MS = 30 * SECOND;
const PONG_WITHIN_MS = 40 * SECOND;
/** The device behind a connection is looked up at least this often, whatever its agent does. */
const LOOK_EVERY_MS = 35 * SECOND;

/** When a connection is to be pinged, looked at, or given up. */
export class Liveness {
  #pingedMs: number;
  #unansweredMs: number | undefined;
  #lookedMs: number;

  constructor(nowMs: number) {
    this.#pingedMs = nowMs;
    this.#lookedMs = nowMs;
  }

  due(nowMs: number): "give up" | "ping" | "look" | undefined {
    if (this.#unansweredMs !== undefined && nowMs - this.#unansweredMs > PONG_WITHIN_MS) return "give up";
    if (nowMs - this.#pingedMs >= PING_EVERY_MS) return "ping";
    return nowMs - this.#lookedMs >= LOOK_EVERY_MS ? "look" : undefined;
  }

  pinged(nowMs: number): void {
    this.#pingedMs = nowMs;
    this.#unansweredMs ??= nowMs;
  }

  ponged(): void {
    this.#unansweredMs = undefined;
  }

  looked(nowMs: number): void {
    this.#lookedMs = nowMs;
  }
}
