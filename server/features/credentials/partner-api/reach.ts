import { partnerPrincipal } from "#server/access/principal";
import type { Reader } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";

/** What is asked under the principal's own handle. */
export type Asking = Pick<Call, "who"> & { readonly db: Reader };

/** Whether a principal reaches an organization, and when that last changed. */
interface Reached {
  readonly reached: boolean;
  readonly at: string;
}

/** The later of two times of the same form. */
export const latest = (...times: readonly (string | null | undefined)[]): string =>
  times.reduce<string>((last, time) => (time && time > last ? time : last), "");

/** The organizations that a principal reaches or once did; of the others it is told nothing, not even that rows went. */
export interface Reach {
  get(orgId: string): Reached | undefined;
  /** Organizations that are reached, or are no more, by the time since when: oldest first, within the times given. */
  turned(reached: boolean, between: { after: string; upTo: string }): (readonly [at: string, orgIds: string[]])[];
  /** Those that a query is to leave out, where that is the shorter list; else undefined. */
  readonly without: readonly string[] | undefined;
  readonly within: readonly string[];
}

/** Of one organization where it is named, else of the whole partner. */
export async function reachOf(call: Asking, orgId: string | undefined): Promise<Reach> {
  const { principalId, orgAccess } = partnerPrincipal(call);
  const all = orgAccess === "all";
  let query = call.db
    .selectFrom("exportOrgReach as org")
    .leftJoin("exportPrincipalReach as own", (join) =>
      join.onRef("own.orgId", "=", "org.orgId").on("own.principalId", "=", principalId),
    )
    .select(["org.orgId", "org.changedAt", "org.reached", "own.changedAt as ownChangedAt", "own.orgId as ownOrgId"])
    .select((eb) => eb.or([eb("own.reached", "=", true), eb("own.orgId", "is", null)]).as("ownReached"));
  if (!all) query = query.where("own.orgId", "is not", null);
  if (orgId !== undefined) query = query.where("org.orgId", "=", orgId);
  const rows = await query.execute();
  const known = new Map(
    rows.map((row): [string, Reached] => [
      row.orgId,
      { reached: row.reached && Boolean(row.ownReached), at: latest(row.changedAt, row.ownChangedAt) },
    ]),
  );
  const ids = (reached: boolean) => [...known].filter(([, one]) => one.reached === reached).map(([id]) => id);
  const [within, outside] = [ids(true), ids(false)];
  return {
    get: (id) => known.get(id),
    turned(reached, { after, upTo }) {
      const byTime = new Map<string, string[]>();
      for (const [id, one] of known)
        if (one.reached === reached && one.at > after && one.at <= upTo)
          byTime.set(one.at, [...(byTime.get(one.at) ?? []), id]);
      return [...byTime].sort(([a], [b]) => (a < b ? -1 : 1));
    },
    within,
    without: all && orgId === undefined && outside.length <= within.length ? outside : undefined,
  };
}
