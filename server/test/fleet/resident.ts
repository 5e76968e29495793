import { readFileSync } from "node:fs";

const EVERY_MS = 1_000;

/** Resident memory of a process in MB, again and again; 0 once it is gone. */
export class Resident {
  readonly #pid: () => number;
  readonly #timer: NodeJS.Timeout;
  #samples: number[] = [];

  constructor(pid: () => number) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.#samples.push(residentMb(this.#pid())), EVERY_MS);
  }

  /** Forgets what was; the process is another one. */
  restart(): void {
    this.#samples = [];
  }

  /** Means of the second and the last quarter: the first warms up. */
  stop(): { thenMb: number; nowMb: number; mostMb: number } {
    clearInterval(this.#timer);
    const seen = this.#samples.filter((mb) => mb > 0);
    const quarter = Math.max(1, Math.floor(seen.length / 4));
    const mean = (of: readonly number[]) => Math.round(of.reduce((sum, mb) => sum + mb, 0) / Math.max(1, of.length));
    return {
      thenMb: mean(seen.slice(quarter, 2 * quarter)),
      nowMb: mean(seen.slice(-quarter)),
      mostMb: Math.max(0, ...seen),
    };
  }
}

function residentMb(pid: number): number {
  try {
    const [, kb] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Math.round(Number(kb ?? 0) / 1024);
  } catch {
    return 0;
  }
}
