import type { AnyEndpoint } from "./core/endpoint.ts";
import { contract } from "./generated/table.ts";

export { contract };

export type Contract = typeof contract;

/** All endpoints, area by area. */
export function allEndpoints(): AnyEndpoint[] {
  return Object.values(contract).flatMap((verbs) => Object.values(verbs) as AnyEndpoint[]);
}
