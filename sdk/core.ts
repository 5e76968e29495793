import type { Credential } from "./credential.ts";
import type { Deadline } from "./deadline.ts";
import type { EndpointInfo } from "./endpoint-info.ts";
import type { ClientOptions, Hooks } from "./options.ts";
import type { Prepared } from "./prepare.ts";
import type { RawResponse, Transport } from "./transport.ts";

/** What all calls of a client share. */
export interface Core {
  readonly base: string;
  /** The server's name in messages: its address without the path of the API. */
  readonly address: string;
  readonly transport: Transport;
  readonly credential: Credential;
  readonly options: ClientOptions;
  readonly hooks: Hooks;
  readonly now: () => number;
  readonly random: () => number;
  /** Operations whose withdrawal was reported. */
  readonly deprecated: Set<string>;
}

export interface Answer {
  readonly response: RawResponse;
  /** The whole body; empty when the caller wanted to read it itself. */
  readonly text: string;
}

/** One call under way. */
export interface Call {
  readonly core: Core;
  readonly endpoint: EndpointInfo;
  readonly prepared: Prepared;
  readonly total: Deadline;
  readonly attemptMs: number;
  readonly streamed: boolean;
}

/** Runs a hook. An error in the caller's hook must not fail the call. */
export function tell<T>(hook: () => T): T | undefined {
  try {
    return hook();
  } catch {
    return undefined;
  }
}
