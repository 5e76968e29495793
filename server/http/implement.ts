import type { AnyEndpoint, Endpoint, EndpointTypes, Resource } from "#contract/core/endpoint";
import type { Call } from "./call.ts";

/** What a handler of an endpoint returns; `undefined` result types are written by the handler as text. */
export type Handler<T extends EndpointTypes> = (call: Call<T>) => Promise<T["result"]>;

export type Handlers<R extends Resource> = {
  [V in keyof R]: R[V] extends Endpoint<infer T> ? Handler<T> : never;
};

export interface Implementation {
  readonly endpoint: AnyEndpoint;
  // biome-ignore lint/suspicious/noExplicitAny: the table holds handlers of every type
  readonly handler: (call: Call<any>) => Promise<unknown>;
}

/** Binds every verb of a noun to its handler: one that is missing or mistyped does not compile. */
export function implement<R extends Resource>(resource: R, handlers: Handlers<R>): Implementation[] {
  return Object.entries(resource).map(([verb, endpoint]) => ({
    endpoint,
    handler: handlers[verb as keyof R] as Implementation["handler"],
  }));
}

/** An answer that is JSON text already: what costs time to build and never changes is built once. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
