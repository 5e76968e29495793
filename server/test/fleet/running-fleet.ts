import { setMaxListeners } from "node:events";
import type { Summary } from "#fixtures/simulators/agent/counts";
import { type Simulation, simulate } from "#fixtures/simulators/agent/simulation";
import type { SeededFleet } from "./seeded-fleet.ts";

interface Options {
  readonly urls: readonly string[];
  readonly fleet: SeededFleet;
  readonly intervalMs: number;
  readonly spreadMs: number;
  readonly seed: string;
}

/** Agents that are spread over servers, half of them with sockets, the others polling. */
export class RunningFleet {
  /** How often each command was handed to its agent. */
  readonly claimed = new Map<string, number>();
  /** How often a result of each was taken. */
  readonly taken = new Map<string, number>();
  /** Commands whose agent knows that the server has its result. */
  readonly settled = new Set<string>();
  readonly refused: string[] = [];
  readonly #stop = new AbortController();
  readonly #parts: readonly Simulation[];

  constructor({ urls, fleet, intervalMs, spreadMs, seed }: Options) {
    // Each part listens with several of its own.
    setMaxListeners(0, this.#stop.signal);
    const ways = urls.flatMap((baseUrl) => (["socket", "poll"] as const).map((transport) => ({ baseUrl, transport })));
    this.#parts = ways.map(({ baseUrl, transport }, part) => {
      const own = fleet.records.filter(({ index }) => index % ways.length === part);
      const known = own.map((record, index) => ({ ...record, index }));
      return simulate({
        ...{
          baseUrl,
          transport,
          known,
          intervalMs,
          spreadMs,
          count: known.length,
          seed: `${seed} ${part}`,
          enrollmentKey: "",
        },
        // Each has a poll of its own.
        sockets: Math.ceil((known.length * 4) / 3) + 4,
        signal: this.#stop.signal,
        tell: (event) => this.#note(event),
      });
    });
  }

  #note({ event, commandId, ignored, ...more }: Record<string, unknown>): void {
    const id = commandId as string;
    const count = (of: Map<string, number>) => of.set(id, (of.get(id) ?? 0) + 1);
    if (event === "claimed") count(this.claimed);
    if (event === "answered") this.settled.add(id);
    if (event === "answered" && ignored !== true) count(this.taken);
    if (event === "refused") this.refused.push(JSON.stringify(more));
  }

  get summaries(): Summary[] {
    return this.#parts.map((part) => part.summary());
  }

  total(field: "heartbeats" | "connected" | "unreached" | "claimedTwice" | "online"): number {
    return this.summaries.reduce((sum, one) => sum + one[field], 0);
  }

  /** Of the last heartbeats of each part, the slowest. */
  get p95Ms(): number {
    return Math.max(...this.summaries.map(({ heartbeatP95Ms }) => heartbeatP95Ms ?? 0));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#parts.map(({ ended }) => ended));
  }
}
