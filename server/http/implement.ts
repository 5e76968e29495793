import type { AnyEndpoint, Endpoint, EndpointTypes, Resource } from "#contract/core/endpoint";
import type { Call } from "./call.ts";

/** What a handler of an endpoint returns; `undefined` result types are written by the handler as text. */
export interface Handler<T extends EndpointTypes> {
  (call: Call<T>): Promise<T["result"]>;
  /** Runs before the transaction in which a request with an idempotency key is answered. */
  prepare?(call: Call<T>): Promise<void>;
  /** Whether an idempotency key holds for this body; without this it does for every one. */
  repeats?(body: T["body"]): boolean;
  /** Notes what an answer from memory was about, so that it leaves an entry; without this it leaves none. */
  replayed?(call: Call<T>, answer: T["result"]): void;
  /** Judges the secret that an answer from memory shows. Every handler has it whose answers are kept with a secret. */
  secretState?(call: Call<T>, answer: T["result"]): Promise<SecretState>;
}

/** `stale`: another secret took its place, or it is used up or expired. `gone`: what it was made for is revoked or removed. */
export type SecretState = "current" | "stale" | "gone";

/** The handler, and how to tell whether a secret that it made still works (docs/conventions.md, "Idempotency keys"). */
// biome-ignore lint/suspicious/noExplicitAny: a handler of any type
export const judgingSecret = <H extends (call: any) => Promise<any>>(
  handler: H,
  secretState: (call: Parameters<H>[0], answer: Awaited<ReturnType<H>>) => Promise<SecretState>,
): H => Object.assign(((call) => handler(call)) as H, handler, { secretState });

export type Handlers<R extends Resource> = {
  [V in keyof R]: R[V] extends Endpoint<infer T> ? Handler<T> : never;
};

export interface Implementation {
  readonly endpoint: AnyEndpoint;
  // biome-ignore lint/suspicious/noExplicitAny: the table holds handlers of every type
  readonly handler: Handler<any>;
}

/** Binds every verb of a noun to its handler: one that is missing or mistyped does not compile. */
export function implement<R extends Resource>(resource: R, handlers: Handlers<R>): Implementation[] {
  return Object.entries(resource).map(([verb, endpoint]) => ({
    endpoint,
    handler: handlers[verb as keyof R] as Implementation["handler"],
  }));
}

/**
 * A handler in two steps, for endpoints that send a request to another host: the first step runs without a transaction,
 * so that only this request waits for that host. The second gets the result of the first.
 */
export function afterAsking<T extends EndpointTypes, A>(
  ask: (call: Call<T>) => Promise<A>,
  handle: (call: Call<T>, answer: A) => Promise<T["result"]>,
): Handler<T> {
  const answers = new WeakMap<Call<T>, { answer: A }>();
  const handler = async (call: Call<T>) => handle(call, (answers.get(call) ?? { answer: await ask(call) }).answer);
  const prepare = async (call: Call<T>) => void answers.set(call, { answer: await ask(call) });
  return Object.assign(handler, { prepare });
}

/**
 * An answer that is sent as it is made. Nothing of it is kept: the next part is made when the caller has taken the one
 * before. What fails on the way ends the connection, so that a part never passes for the whole.
 */
export class StreamedAnswer {
  readonly type: string;
  readonly parts: AsyncIterable<string>;

  constructor(type: string, parts: AsyncIterable<string>) {
    this.type = type;
    this.parts = parts;
  }
}

/** An answer that is JSON text already: what costs time to build and never changes is built once. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
