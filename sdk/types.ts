import type { AnyEndpoint, EndpointTypes } from "#contract/core/endpoint";
import type { ApiCall, ListCall } from "./call.ts";
import type { CallOptions } from "./options.ts";

/** A query value as a caller may write it: numbers, booleans and lists become text on the way. */
type Loose<V> = [string] extends [V]
  ? V | number | boolean | Date | readonly (string | number)[]
  : ["true" | "false"] extends [V]
    ? V | boolean
    : V;
type LooseQuery<Q> = { [K in keyof Q]: Loose<Q[K]> };

type ParamsPart<P> = keyof P extends never ? unknown : { params: P };
type QueryPart<Q> = [Q] extends [undefined] ? unknown : Part<"query", LooseQuery<Q>>;
type BodyPart<B> = [B] extends [undefined] ? unknown : Part<"body", B>;
type Part<Name extends string, V> = Record<never, never> extends V ? { [K in Name]?: V } : { [K in Name]: V };

type Flat<T> = { [K in keyof T]: T[K] };
/** What a call takes: `{ params, query, body }`, each only where the endpoint has it. */
export type InputOf<T extends EndpointTypes> = Flat<
  ParamsPart<T["params"]> & QueryPart<T["queryInput"]> & BodyPart<T["bodyInput"]>
>;
type Arguments<I> =
  Record<never, never> extends I ? [input?: I, options?: CallOptions] : [input: I, options?: CallOptions];
type Answered<T extends EndpointTypes> = [T["item"]] extends [undefined]
  ? ApiCall<T["result"]>
  : ListCall<T["item"], T["result"]>;

/** The SDK method of an endpoint. */
export type Method<E extends AnyEndpoint> = MethodOf<NonNullable<E["types"]>>;
type MethodOf<T extends EndpointTypes> = (...args: Arguments<InputOf<T>>) => Answered<T>;
