import { type Scope, wallOf } from "./scope.ts";

/** How long the reads of a request may take, and whether somebody still waits for them. */
export interface ReadBounds {
  readonly gone: AbortSignal;
  /** Who waits: where reads must queue, tenants take turns. */
  tenant?: string;
  /** By `performance.now()`; undefined = as long as any statement may take. */
  untilMs?: number;
  /** In a thread of their own, however small the database: what is asked may take long whatever it is asked of. */
  apart?: boolean;
  /** Built for this once: nothing of it is kept, and it is planned for the values that it has. */
  once?: boolean;
}

const ofScope = new WeakMap<Scope, ReadBounds>();
const ofQuery = new WeakMap<object, ReadBounds>();

/** A request has a scope of its own, which every handle of it knows. */
export function boundReads(scope: Scope, bounds: ReadBounds): void {
  bounds.tenant = wallOf(scope);
  ofScope.set(scope, bounds);
}

/** From now on all reads of the request together have this long. */
export function limitReads(scope: Scope, ms: number, { apart = false }: { apart?: boolean } = {}): void {
  const bounds = ofScope.get(scope);
  if (bounds) Object.assign(bounds, { untilMs: performance.now() + ms, apart });
}

export const boundsOf = (scope: Scope | undefined): ReadBounds | undefined => scope && ofScope.get(scope);

/** Of a query as it is run; queries that are compiled once for all callers have none. */
export const boundsOfQuery = (query: object): ReadBounds | undefined => ofQuery.get(query);

export function noteQuery(query: object, scope: Scope): void {
  const bounds = ofScope.get(scope);
  if (bounds) ofQuery.set(query, bounds);
}

const messages = {
  RMM_READ_LATE: "the statement took too long",
  RMM_READ_LEFT: "nobody waits for the statement any more",
  RMM_READ_FULL: "too many statements wait for a thread",
} as const;

/** A read that was not finished, for a reason of ours. */
export class ReadGivenUp extends Error {
  readonly code: keyof typeof messages;

  constructor(code: keyof typeof messages) {
    super(messages[code]);
    this.code = code;
  }
}

/** Postgres says the same with a code of its own. */
export const wasLate = (error: unknown): boolean => {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === "RMM_READ_LATE" || code === "57014";
};
