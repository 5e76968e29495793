import type { Statement } from "../../../scripts/specification/readings/reading.ts";

/** What an endpoint of the contract declares, in plain values. */
export interface Declaration {
  readonly endpoint: string;
  readonly kinds: readonly string[];
  readonly scopes: readonly string[];
  readonly permissions: readonly string[];
  readonly keyScopes: readonly string[];
  readonly mfa: boolean;
  readonly fullPartner: boolean;
  readonly watchdog: boolean;
  readonly exempt: readonly string[];
  /** Every code it may answer, including those of the pipeline. */
  readonly errors: readonly string[];
  /** Null: it writes no entry. */
  readonly audit: string | null;
  /** Every kind it may tell. */
  readonly events: readonly string[];
}

/** A table of endpoints, keyed `METHOD /path`. */
export type Specification = Readonly<Record<string, Statement>>;

/** Names of path parameters do not matter. */
const shapeOf = (endpoint: string) => endpoint.replace(/:\w+/g, ":");

/**
 * Every difference between what the contract declares and what the specification says, one line each:
 * `POST /sites mfa: declared false, specified true`. Endpoints that the contract does not have yet make none.
 */
export function differences(declared: readonly Declaration[], specification: Specification): string[] {
  const specified = new Map(Object.entries(specification).map(([endpoint, says]) => [shapeOf(endpoint), says]));
  return declared.flatMap((one) => {
    const shape = shapeOf(one.endpoint);
    const says = specified.get(shape) ?? specified.get(shape.replace(/^[A-Z]+/, "ALL"));
    if (!says) return [`${one.endpoint} is not in the specification`];
    return differencesOf(one, says).map((difference) => `${one.endpoint} ${difference}`);
  });
}

function differencesOf(has: Declaration, says: Statement): string[] {
  // Keys and agents have no user scope, and the guards for users do not apply to them.
  const person = has.kinds.includes("user") || says.kinds.includes("user");
  return [
    ...lists("kinds", has.kinds, says.kinds),
    ...(person ? lists("scopes", has.scopes, says.scopes) : []),
    ...(says.permissions ? permissionDifferences(has.permissions, says.permissions) : []),
    ...lists("keyScopes", has.keyScopes, says.keyScopes),
    ...flag("mfa", has.mfa, says.mfa),
    ...flag("fullPartner", has.fullPartner, says.fullPartner),
    ...flag("watchdog", has.watchdog, says.watchdog),
    ...(person ? lists("exempt", has.exempt, says.exempt) : []),
    ...auditDifferences(has.audit, says.audit),
    ...says.events.filter((kind) => !has.events.includes(kind)).map((kind) => `events: ${kind} is not declared`),
    ...says.errors.filter((code) => !has.errors.includes(code)).map((code) => `errors: ${code} is not declared`),
  ];
}

function flag(name: string, has: boolean, says: boolean): string[] {
  return has === says ? [] : [`${name}: declared ${has}, specified ${says}`];
}

function lists(name: string, has: readonly string[], says: readonly string[]): string[] {
  const [declared, specified] = [has.toSorted().join(", "), says.toSorted().join(", ")];
  return declared === specified ? [] : [`${name}: declared [${declared}], specified [${specified}]`];
}

/** Each specified permission, or one of its alternatives, is declared, and no other is. */
function permissionDifferences(has: readonly string[], says: readonly string[]): string[] {
  const met = says.every((one) => one.split("|").some((alternative) => has.includes(alternative)));
  return met && has.length === says.length ? [] : lists("permissions", has, says);
}

function auditDifferences(has: string | null, says: readonly string[] | null): string[] {
  if (says === null || (has === null ? says.length === 0 : says.includes(has))) return [];
  return [`audit: declared ${has ?? "none"}, specified ${says.join(" or ") || "none"}`];
}
