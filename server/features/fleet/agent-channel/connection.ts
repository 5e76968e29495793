import type { WebSocket } from "ws";
import { reloadAgent } from "#server/access/load-agent";
import type { AgentPrincipal } from "#server/access/principal";
import { refuseDraining } from "#server/features/fleet/agents/own-device";
import { deviceTopic, organizationTopic, tellDevice } from "#server/features/fleet/device-commands/signals";
import { readFrame, runFrame, toldProblem } from "#server/http/frame";
import type { Implementation } from "#server/http/implement";
import type { Arrival } from "#server/http/upgrade";
import { Problem, problem } from "#server/problem";
import type { Services } from "#server/services";
import { closedBy } from "./close-codes.ts";
import { deliver } from "./deliver.ts";
import { FrameLimit } from "./frame-limit.ts";
import { type Incoming, incoming } from "./frames.ts";
import { Line } from "./line.ts";
import { Liveness } from "./liveness.ts";
import { noteAlive, noteConnected, takeHeartbeat, takeResult } from "./work.ts";

export type Admitted = Pick<Arrival, "facts"> & { readonly who: AgentPrincipal };

/**
 * One agent's connection (docs/agents.md, "Connection"). It does one thing after the other, in the order in which frames
 * came, and reads none meanwhile. The device is looked up before each: what held when it connected gives no right.
 */
export class AgentConnection {
  readonly #services: Services;
  readonly #admitted: Admitted;
  readonly #id: string;
  readonly #line: Line;
  readonly #limit: FrameLimit;
  readonly #live: Liveness;
  #turn = Promise.resolve();
  #lookAwaits = false;
  /** Frames that came and wait for their turn; none is read meanwhile. */
  #unanswered = 0;
  /** Commands wait until the peer has read what was sent. */
  #heldBack = false;

  constructor(socket: WebSocket, services: Services, admitted: Admitted) {
    const { deviceId, orgId } = admitted.who;
    this.#services = services;
    this.#admitted = admitted;
    this.#id = services.random.uuid();
    this.#line = new Line(socket);
    this.#limit = new FrameLimit(services, deviceId);
    this.#live = new Liveness(services.clock.nowMs());
    this.#next(() => this.#begin());
    socket.on("message", (data: Buffer, binary) => this.#receive(socket, () => this.#take(data, binary)));
    socket.on("ping", (data: Buffer) =>
      this.#receive(socket, async () => void ((await this.#mayTake()) && socket.pong(data))),
    );
    socket.on("error", (error) => services.log.info("agent.frame_refused", { deviceId, error }));
    const { signals } = services.store;
    const offs = [deviceTopic(deviceId), organizationTopic(orgId)].map((topic) =>
      signals.on(topic, () => this.#look()),
    );
    socket.once("close", (code) => {
      for (const off of offs) off();
      services.log.info("agent.disconnected", { deviceId, code });
    });
    services.log.info("agent.connected", { deviceId });
  }

  /** What has to be done by the clock. */
  tick(nowMs: number): void {
    const due = this.#live.due(nowMs);
    if (due === "give up") this.#line.close("noPong");
    if (due === "ping") {
      this.#live.pinged(nowMs);
      this.#line.send({ type: "ping", t: nowMs });
    }
    if (due === "look" || (this.#heldBack && this.#line.idle)) this.#look();
  }

  /** Resolves when nothing that came over it is being worked on. */
  async stop(): Promise<void> {
    this.#line.close("stopping");
    await this.#turn;
  }

  #next(work: () => Promise<void>): void {
    this.#turn = this.#turn.then(async () => {
      if (this.#line.open) await work().catch((error) => this.#refuse(error));
    });
  }

  #receive(socket: WebSocket, work: () => Promise<void>): void {
    socket.pause();
    this.#unanswered += 1;
    this.#next(work);
    // Whatever else has got in line behind it reads nothing.
    void this.#turn.then(() => {
      this.#unanswered -= 1;
      if (this.#unanswered === 0) socket.resume();
    });
  }

  async #begin(): Promise<void> {
    const { who } = this.#admitted;
    try {
      await this.#run(noteConnected(this.#id), who);
    } catch (error) {
      const { code, status } = error as Problem;
      return this.#line.close(closedBy(code) ?? (status === 503 ? "tryAgain" : "failed"));
    }
    this.#line.send({ type: "connected", agentId: who.agentId, serverTime: this.#services.clock.now() });
    // Ends an older connection, wherever it is, and wakes this one for what waits already.
    tellDevice(this.#services, who.deviceId);
  }

  /** Something may have changed, or wait. */
  #look(): void {
    if (this.#services.store.signals.closed || this.#lookAwaits) return;
    this.#lookAwaits = true;
    this.#next(async () => {
      this.#lookAwaits = false;
      const who = await this.#reload();
      if (who) await this.#deliver(who);
    });
  }

  async #take(data: Buffer, binary: boolean): Promise<void> {
    if (!(await this.#mayTake())) return;
    const who = await this.#reload();
    if (!who) return;
    if (binary) throw problem("INVALID_JSON", { message: "A frame is text" });
    const frame = incoming(readFrame(data));
    await this.#handle(frame, who).catch((error) => this.#refuse(error, frame));
    await this.#deliver(who);
  }

  async #mayTake(): Promise<boolean> {
    const verdict = await this.#limit.judge();
    if (verdict === "close") this.#line.close("rateLimit");
    if (verdict === "tell") this.#refuse(problem("RATE_LIMITED"));
    return verdict === "take";
  }

  async #handle(frame: Incoming, who: AgentPrincipal): Promise<void> {
    if (frame.type === "heartbeat") {
      this.#line.send({ type: "heartbeat_ack", ...(await this.#run<object>(takeHeartbeat, who, frame)) });
    } else if (frame.type === "command_result") {
      const { commandId } = frame;
      const { success: _, ...told } = await this.#run<{ success: true }>(takeResult, who, frame);
      this.#line.send({ type: "ack", commandId, ...told });
    } else if (frame.type === "pong") {
      this.#live.ponged();
      await this.#run(noteAlive, who);
    }
  }

  /** The device as it is now, unless this connection is over. */
  async #reload(): Promise<AgentPrincipal | undefined> {
    this.#live.looked(this.#services.clock.nowMs());
    const before = this.#admitted.who;
    const who = await reloadAgent(this.#services, before.tokenHash);
    // A merge ends with another organization or with the old one: either way the agent comes again.
    if (who.orgId !== before.orgId || who.orgStatus === "merging") this.#line.close("organizationChanged");
    else if (who.device.connectionId !== this.#id) this.#line.close("superseded");
    else refuseDraining(who);
    return this.#line.open ? who : undefined;
  }

  async #deliver(who: AgentPrincipal): Promise<void> {
    this.#heldBack = await deliver(this.#line, (implementation, gone) => this.#run(implementation, who, {}, gone));
  }

  #run<R>(
    implementation: Implementation,
    who: AgentPrincipal,
    { body = {}, commandId = "" }: { body?: object; commandId?: string } = {},
    gone: AbortSignal = this.#line.gone,
  ): Promise<R> {
    const params = { id: who.deviceId, commandId };
    return runFrame<R>(this.#services, implementation, { who, facts: this.#admitted.facts, gone, params, body });
  }

  #refuse(error: unknown, about: object = {}): void {
    const told = error instanceof Problem ? error : toldProblem(this.#services, this.#admitted.facts, error);
    const reason = closedBy(told.code);
    if (reason) this.#line.close(reason);
    const commandId = "commandId" in about ? { commandId: about.commandId } : {};
    this.#line.send({ type: "error", code: told.code, message: told.message, ...commandId });
  }
}
