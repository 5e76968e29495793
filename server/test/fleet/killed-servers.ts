import type { SeededRandom } from "#fixtures/simulators/seeded-random";
import type { Installation, ServerProcess } from "../fault/processes.ts";
import { Resident } from "./resident.ts";

interface Killing {
  readonly kills: number;
  /** From now on. */
  readonly withinMs: number;
  readonly random: SeededRandom;
}

/** Server processes of one installation, each of which keeps its address when it is killed and started anew. */
export class KilledServers {
  readonly memory: readonly Resident[];
  readonly #installation: Installation;
  readonly #servers: ServerProcess[];

  private constructor(installation: Installation, servers: ServerProcess[]) {
    this.#installation = installation;
    this.#servers = servers;
    this.memory = servers.map((_, at) => new Resident(() => this.#servers[at]?.pid ?? 0));
  }

  static async start(installation: Installation, count: number): Promise<KilledServers> {
    const started = Array.from({ length: count }, () => installation.start());
    return new KilledServers(installation, await Promise.all(started));
  }

  get all(): readonly ServerProcess[] {
    return this.#servers;
  }

  /** Kills one after the other at random, and starts each again at once. */
  async kill({ kills, withinMs, random }: Killing): Promise<void> {
    const began = performance.now();
    for (let done = 0; done < kills; done += 1) {
      const dueMs = (withinMs / kills) * (done + random.next());
      await pause(dueMs - (performance.now() - began));
      const at = random.int(0, this.#servers.length - 1);
      const victim = this.#servers[at] as ServerProcess;
      await victim.kill();
      this.#servers[at] = await this.#installation.start({}, Number(new URL(victim.url).port));
      this.memory[at]?.restart();
    }
    await pause(withinMs - (performance.now() - began));
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, Math.max(0, ms)));
