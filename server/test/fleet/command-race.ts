import fc from "fast-check";
import { endOverdueCommands } from "../../features/fleet/device-commands/sweep.ts";
import { enroll, type TestKey } from "../enroll.ts";
import { type Answer, type SignedInUser, signIn, type TestServer } from "../harness.ts";

const which = (kind: "answer" | "cancel") => ({ kind: fc.constant(kind), at: fc.nat(5) });

/** One thing that happens to the commands of a device. */
export const action = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: "queue" } as const) },
  { weight: 4, arbitrary: fc.constant({ kind: "claim" } as const) },
  {
    weight: 3,
    arbitrary: fc.record({ ...which("answer"), status: fc.constantFrom("completed", "failed", "timeout") }),
  },
  { weight: 3, arbitrary: fc.record(which("cancel")) },
  { weight: 2, arbitrary: fc.constant({ kind: "time" } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "quarantine" } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "lift" } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "move" } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "decommission" } as const) },
);

export type Action = { readonly kind: string; readonly at?: number; readonly status?: string };

/** Where devices may go. */
export interface World {
  readonly server: TestServer;
  readonly partnerId: string;
  readonly places: readonly { readonly orgId: string; readonly siteId: string }[];
  readonly key: TestKey;
}

/** One device, its agent, a person who manages it, and what they were told. */
export class Race {
  readonly ids: string[] = [];
  readonly handed: string[] = [];
  readonly accepted: string[] = [];
  readonly cancelled: string[] = [];
  #admin: SignedInUser | undefined;
  #late = false;

  private constructor(
    readonly world: World,
    readonly deviceId: string,
    readonly agentToken: string,
  ) {}

  static async begin(world: World): Promise<Race> {
    // Each a name of its own: nobody enrolls under that of a quarantined device.
    const hostname = `racing-${world.server.services.random.uuid()}`;
    const { body } = await enroll(world.server, world.key, { hostname });
    return new Race(world, body.deviceId, body.agentToken);
  }

  /** All of them at the same moment; each with what it was answered. */
  async together(actions: readonly Action[]): Promise<(Answer | undefined)[]> {
    const { server, partnerId } = this.world;
    // Time passes: a token made long ago would have ended.
    this.#admin = await signIn(server, { role: "Partner Admin", partnerId });
    this.#late = false;
    return Promise.all(actions.map((one) => this.#do(one)));
  }

  /** The command that an action names, if there is one. */
  named({ at = 0 }: Action): string | undefined {
    return this.ids[at % Math.max(this.ids.length, 1)];
  }

  async device() {
    const query = this.world.server.db.selectFrom("devices").select(["status", "orgId"]);
    return query.where("id", "=", this.deviceId).executeTakeFirstOrThrow();
  }

  async commands() {
    if (this.ids.length === 0) return [];
    const query = this.world.server.db.selectFrom("deviceCommands").selectAll();
    return query.where("id", "in", this.ids).orderBy("queuedAt").orderBy("id").execute();
  }

  async #do(one: Action): Promise<Answer | undefined> {
    if (one.kind === "time") return this.#passTime();
    if (one.kind === "claim") return this.#claim();
    if (one.kind === "answer") return this.#answer(one);
    if (one.kind === "queue") return this.#queue();
    if (one.kind === "cancel") return this.#cancel(one);
    if (one.kind === "move") return this.#move();
    if (one.kind === "decommission") return this.#person("DELETE", "");
    if (one.kind === "lift") return this.#person("PATCH", "", { quarantined: false });
    return this.#person("PATCH", "", { quarantined: true, quarantinedReason: "racing" });
  }

  #person(method: string, rest: string, body?: unknown): Promise<Answer> {
    const token = (this.#admin as SignedInUser).token;
    return this.world.server.request(method, `/devices/${this.deviceId}${rest}`, { token, body });
  }

  #agent(method: string, rest: string, body?: unknown): Promise<Answer> {
    return this.world.server.request(method, `/agents/${this.deviceId}${rest}`, { token: this.agentToken, body });
  }

  /** Once a moment: tokens of people end, too. */
  async #passTime(): Promise<undefined> {
    if (!this.#late) this.world.server.clock.advance(6 * 60_000);
    this.#late = true;
    await endOverdueCommands(this.world.server.services);
  }

  async #queue(): Promise<Answer> {
    const answer = await this.#person("POST", "/commands", { type: "lock" });
    if (answer.status === 201) this.ids.push(answer.body.id);
    return answer;
  }

  async #claim(): Promise<Answer> {
    const answer = await this.#agent("GET", "/commands");
    if (answer.status === 200) this.handed.push(...answer.body.commands.map(({ id }: { id: string }) => id));
    return answer;
  }

  async #answer(one: Action): Promise<Answer | undefined> {
    const id = this.named(one);
    if (id === undefined) return undefined;
    const answer = await this.#agent("POST", `/commands/${id}/result`, { status: one.status });
    if (answer.status === 200 && answer.body.ignored !== true) this.accepted.push(id);
    return answer;
  }

  async #cancel(one: Action): Promise<Answer | undefined> {
    const id = this.named(one);
    if (id === undefined) return undefined;
    const answer = await this.#person("POST", `/commands/${id}/cancel`);
    if (answer.status === 200) this.cancelled.push(id);
    return answer;
  }

  async #move(): Promise<Answer> {
    const { orgId } = await this.device();
    const to = this.world.places.find((place) => place.orgId !== orgId);
    return this.#person("POST", "/move-org", to);
  }
}
