import type { FilterGroup } from "#contract/core/filters/condition";
import { asFleetQuery } from "#server/access/fleet-queries";
import { getNamedOrg } from "#server/access/org-access";
import { limitReads, wasLate } from "#server/db/read-bounds";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { byKey, finderOf, type Match } from "./find-devices.ts";

interface Asked {
  readonly orgId?: string | undefined;
  readonly limit: number;
}

/** As long as the database may take over a filter. */
const LIMIT_MS = 5_000;

/**
 * Runs what evaluates filters for a person: at most two at a time and sixty a minute (429), and five seconds in the
 * database (422 `FILTER_TIMEOUT`; docs/filters.md, "Limits"). Reads of the embedded database run in a thread.
 */
export const asPreview = <R>(call: Call, work: () => Promise<R>): Promise<R> =>
  asFleetQuery(call, async () => {
    limitReads(call.scope, LIMIT_MS, { apart: true });
    try {
      return await work();
    } catch (error) {
      throw wasLate(error) ? problem("FILTER_TIMEOUT", { cause: error }) : error;
    }
  });

async function finderFor(call: Call, filter: FilterGroup, orgId: string | undefined) {
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  const { db, scope, clock, services } = call;
  const evaluatedAt = clock.now();
  const finder = await finderOf({ db, scope, dialect: services.store.dialect, now: evaluatedAt, orgId }, filter);
  return { evaluatedAt, ...finder };
}

/** How many there are, and what is shown of the first by hostname, then id; 403 for an organization out of reach. */
export async function countedMatches(call: Call, filter: FilterGroup, { orgId, limit }: Asked) {
  const { evaluatedAt, first } = await finderFor(call, filter, orgId);
  return { ...(await first(limit)), evaluatedAt };
}

interface Page extends Asked {
  readonly after: Match | undefined;
  readonly counted: boolean;
}

/** A page of them behind one of them; with how many there are in all where that is asked for. */
export async function nextMatches(call: Call, filter: FilterGroup, { orgId, limit, after, counted }: Page) {
  const { few, walk, count } = await finderFor(call, filter, orgId);
  const all = await few(limit);
  if (all) {
    const matches = all.filter((one) => !after || byKey(one, after) > 0).slice(0, limit);
    return { matches, total: counted ? all.length : undefined };
  }
  const [matches, total] = await Promise.all([walk(after, limit), counted ? count() : undefined]);
  return { matches, total };
}
