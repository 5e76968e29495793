import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Access } from "#contract/core/access";
import type { Principal } from "#server/access/principal";
import type { Services } from "#server/services";
import type { RequestFacts } from "./request-facts.ts";

/**
 * A path whose requests become WebSockets. A room declares it in `upgrades.ts`; it is no endpoint of the contract, which
 * knows requests and answers alone (docs/agents.md).
 */
export interface Upgrade {
  /** Below the prefix of the API, with `:parameters`. */
  readonly path: string;
  readonly access: Access;
  open(services: Services): Channel;
}

/** The WebSockets of one path in this process. */
export interface Channel {
  /** Takes the connection over. Rejects to refuse it, as long as nothing was written. */
  admit(arrival: Arrival): Promise<void>;
  /** Closes them all, and resolves when nothing that came over them is being worked on. */
  stop(): Promise<void>;
}

/** A request to upgrade, from a caller who may have it by credential and limit. */
export interface Arrival {
  readonly who: Principal;
  readonly params: Readonly<Record<string, string>>;
  readonly facts: RequestFacts;
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}
