import { agentRequests } from "#server/access/agent-limits";
import { SECOND } from "#server/platform/clock";
import type { Services } from "#server/services";

/** How long a device may go on after its limit is reached. */
const PATIENCE_MS = 10 * SECOND;

/** `tell`: over the limit, and the device is to hear of it; `drop`: it has heard within this second. */
type Verdict = "take" | "tell" | "drop" | "close";

interface Over {
  readonly sinceMs: number;
  /** When a slot can free. */
  untilMs: number;
  toldMs: number;
}

/**
 * Frames count with the requests of their device (docs/agents.md, "Limits of an agent"). Over the limit the shared
 * counter is not asked before a slot can free, so that a flood costs nobody else anything.
 */
export class FrameLimit {
  readonly #services: Pick<Services, "limiter" | "clock">;
  readonly #deviceId: string;
  #over: Over | undefined;

  constructor(services: Pick<Services, "limiter" | "clock">, deviceId: string) {
    this.#services = services;
    this.#deviceId = deviceId;
  }

  async judge(): Promise<Verdict> {
    const { clock, limiter } = this.#services;
    const over = this.#over;
    if (over && clock.nowMs() < over.untilMs) return this.#refuse(over);
    const allowance = await limiter.takeLeased(agentRequests, this.#deviceId);
    if (allowance.allowed) {
      this.#over = undefined;
      return "take";
    }
    this.#over ??= { sinceMs: clock.nowMs(), untilMs: 0, toldMs: 0 };
    this.#over.untilMs = allowance.resetAtMs;
    return this.#refuse(this.#over);
  }

  #refuse(over: Over): Verdict {
    const now = this.#services.clock.nowMs();
    if (now - over.sinceMs >= PATIENCE_MS) return "close";
    if (now - over.toldMs < SECOND) return "drop";
    over.toldMs = now;
    return "tell";
  }
}
