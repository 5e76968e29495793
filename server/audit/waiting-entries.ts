import type { ExpressionBuilder, Kysely } from "kysely";
import { type ChainRef, chainOf } from "./chain.ts";
import type { AuditTables } from "./tables.ts";

/** An entry of the outbox. */
export interface Waiting {
  id: number;
  orgId: string | null;
  partnerId: string | null;
}

const BATCH_MAX = 100;
const LOOK_AHEAD = 1_000;

/** The oldest entries by chain, in their order; also of chains behind those that have very many. */
export async function waitingByChain(db: Kysely<AuditTables>, except: readonly ChainRef[]): Promise<Waiting[][]> {
  const look = (passed: readonly ChainRef[]): Promise<Waiting[]> =>
    db
      .selectFrom("auditOutbox")
      .select(["id", "orgId", "partnerId"])
      .where((eb) => eb.and(passed.map((chain) => isNotOf(eb, chain))))
      .orderBy("id")
      .limit(LOOK_AHEAD)
      .execute();
  const oldest = await look(except);
  const groups = byChain(oldest);
  const many = groups.filter((group) => group.length > BATCH_MAX);
  if (oldest.length < LOOK_AHEAD || many.length === 0) return groups;
  return [...many, ...byChain(await look([...except, ...many.map((group) => chainOf(group[0]!))]))];
}

function isNotOf(eb: ExpressionBuilder<AuditTables, "auditOutbox">, { kind, id }: ChainRef) {
  if (kind === "organization") return eb.or([eb("orgId", "is", null), eb("orgId", "!=", id)]);
  if (kind === "system") return eb.or([eb("orgId", "is not", null), eb("partnerId", "is not", null)]);
  return eb.or([eb("orgId", "is not", null), eb("partnerId", "is", null), eb("partnerId", "!=", id)]);
}

/** Keeps the order within each: a transaction that touched two chains could deadlock with another. */
function byChain(waiting: readonly Waiting[]): Waiting[][] {
  const groups = new Map<string, Waiting[]>();
  for (const entry of waiting) {
    const { kind, id } = chainOf(entry);
    const group = groups.get(kind + id);
    if (group) group.push(entry);
    else groups.set(kind + id, [entry]);
  }
  return [...groups.values()];
}

/** A batch of each, then the next of each. */
export function* inTurns(groups: readonly Waiting[][]): Generator<[group: Waiting[], batch: Waiting[]]> {
  const turns = Math.ceil(Math.max(0, ...groups.map((group) => group.length)) / BATCH_MAX);
  for (let turn = 0; turn < turns; turn += 1)
    for (const group of groups) {
      const batch = group.slice(turn * BATCH_MAX, (turn + 1) * BATCH_MAX);
      if (batch.length > 0) yield [group, batch];
    }
}
