import type { SeededRandom } from "#fixtures/simulators/seeded-random";
import { type Installation, renewed, type ServerProcess } from "../fault/processes.ts";
import type { SeededFleet } from "./seeded-fleet.ts";

const AT_ONCE = 4;
const AGAIN_MS = 200;

/** What somebody told devices to do: each order is one command, however often it was sent. */
export class Orders {
  /** Commands that the server has acknowledged, with their device. */
  readonly acknowledged = new Map<string, string>();
  /** Answers that should not be. */
  readonly refused: string[] = [];
  readonly #installation: Installation;
  readonly #fleet: SeededFleet;
  readonly #random: SeededRandom;
  #made = 0;

  constructor(installation: Installation, fleet: SeededFleet, random: SeededRandom) {
    this.#installation = installation;
    this.#fleet = fleet;
    this.#random = random;
  }

  /** Gives orders at this rate until `over`, then sees to the last of them. */
  async give(perSecond: number, servers: () => readonly ServerProcess[], over: () => boolean): Promise<void> {
    const began = performance.now();
    const due = () => ((performance.now() - began) / 1_000) * perSecond;
    const worker = async () => {
      while (!over()) {
        if (this.#made < due()) await this.#order(servers);
        else await pause(10);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  }

  async #order(servers: () => readonly ServerProcess[]): Promise<void> {
    const number = this.#made++;
    const { deviceId } = this.#random.pick(this.#fleet.records).identity as { deviceId: string };
    for (;;) {
      const all = servers();
      const server = all[number % all.length] as ServerProcess;
      const answer = await server
        .request("POST", `/devices/${deviceId}/commands`, {
          token: renewed(this.#installation, this.#fleet.token),
          headers: { "x-idempotency-key": `order-${number}-of-the-fleet` },
          body: { type: "lock" },
        })
        .catch(() => undefined);
      if (answer?.status === 201) return void this.acknowledged.set(answer.body.id, deviceId);
      const passes = !answer || answer.status >= 500 || answer.body?.code === "IDEMPOTENCY_IN_FLIGHT";
      if (!passes) return void this.refused.push(`${answer.status} ${JSON.stringify(answer.body)}`);
      await pause(AGAIN_MS);
    }
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
