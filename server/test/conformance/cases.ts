import { type AnyEndpoint, type Noun, nounOf } from "#contract/core/endpoint";
import { contract } from "#contract/index";
import { jsonSchemaOf } from "#contract/json-schema";
import type { Example } from "#fixtures/example";
import { examples } from "#fixtures/generated/nouns";
import type { Tenant } from "#fixtures/world";
import { type DatabaseName, databases } from "../harness.ts";
import { proving } from "../proving.ts";

/** One endpoint with its example, named `noun.verb`. */
export interface Case {
  name: string;
  endpoint: AnyEndpoint;
  example(tenant: Tenant): Example;
}

export type ScopeName = "system" | "partner" | "organization";

/** Every endpoint of the contract. */
export const allCases: readonly Case[] = Object.entries(contract).flatMap(([noun, resource]) =>
  Object.entries(resource as Record<string, AnyEndpoint>).map(([verb, endpoint]) => ({
    name: `${noun}.${verb}`,
    endpoint,
    example: (examples as unknown as Record<string, Record<string, Case["example"]>>)[noun]?.[verb] as Case["example"],
  })),
);

/** Nouns to test, separated by commas: `npm test -- sites`. */
const wanted = process.env["NOUNS"]?.split(",");

/** The endpoints to sweep: all, or those of the selected nouns. */
export const cases: readonly Case[] = allCases.filter(
  ({ endpoint }) => wanted === undefined || wanted.includes(endpoint.noun),
);

/**
 * Endpoints for a sweep of what the pipeline does alike on both databases: `npm test` sends every other endpoint to each
 * database, `npm run prove -- sweeps` all of them to both.
 */
export const shareOf = (database: DatabaseName, all: readonly Case[] = cases): readonly Case[] =>
  proving || wanted !== undefined ? all : all.filter((_, at) => at % 2 === databases.indexOf(database));

const takes = (kind: string) => cases.filter(({ endpoint }) => endpoint.access.kinds.includes(kind as "user"));

export const forUsers = takes("user");
export const forAgents = takes("agent");
export const forPartnerKeys = takes("partnerKey");
export const isPublic = ({ endpoint }: Case): boolean => endpoint.access.kinds.includes("public");

/** Whether it lists acts: every request may add some. */
export const isTrail = ({ endpoint }: Case): boolean =>
  Object.values(aboutNoun(endpoint.noun).kinds ?? {}).some(({ trail }) => trail);

const nouns = new Map(Object.values(contract).map((verbs) => [nounOf(verbs).name, nounOf(verbs)]));
export const aboutNoun = (name: string): Noun => nouns.get(name) as Noun;

/** The text that a list does not answer without: it is a search. */
export function searchIn({ endpoint }: Case): string | undefined {
  const { query } = endpoint.schemas();
  return (query && jsonSchemaOf(query, "input").required)?.[0];
}

export const caseOf = (name: string): Case => {
  const found = allCases.find((item) => item.name === name);
  if (!found) throw new Error(`there is no endpoint ${name}`);
  return found;
};

/** The scope an example runs under. */
export function scopeOfExample(item: Case, tenant: Tenant): ScopeName {
  const { as } = item.example(tenant);
  if (as !== undefined && as !== "agent") return as;
  const { scopes } = item.endpoint.access;
  return scopes.includes("partner") ? "partner" : (scopes[0] as ScopeName);
}

/** A tenant with words as ids, for examples that are read but not sent. */
export const namedTenant = new Proxy({}, { get: (_, name) => `<${String(name)}>` }) as Tenant;
