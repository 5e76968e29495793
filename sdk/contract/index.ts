import type { Area } from "./areas.ts";
import type { AnyEndpoint } from "./core/endpoint.ts";
import { areaOf, type Contract, contract } from "./generated/table.ts";

export { type Contract, contract };

/** The area of a noun, named in kebab-case; undefined for what is no noun. */
export const areaOfNoun = (noun: string): Area | undefined =>
  (areaOf as Record<string, Area>)[noun.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];

/** All endpoints, area by area. */
export function allEndpoints(): AnyEndpoint[] {
  return Object.values(contract).flatMap((verbs) => Object.values(verbs) as AnyEndpoint[]);
}
