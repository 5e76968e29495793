import type { Endpoint } from "#contract/core/endpoint";
import type { savedFilters } from "#contract/resources/fleet/saved-filters";
import { orgForCreate, refuseSiteRestricted } from "#server/access/org-access";
import { lockText } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { judgeConditions } from "./judge.ts";
import { getFilter } from "./queries.ts";
import { FILTERS_MAX } from "./rules.ts";

type CreateCall = typeof savedFilters.create extends Endpoint<infer T> ? Call<T> : never;

/** Saves a filter (docs/filters.md, "Saved filters"); what a member of an organization names as `orgId` says nothing. */
export async function createFilter(call: CreateCall) {
  refuseSiteRestricted(call);
  const { userId, scope } = user(call);
  const { name, description } = call.body;
  return call.transaction(async (tx) => {
    const org = await orgForCreate(call, scope === "organization" ? undefined : call.body.orgId, tx);
    const id = call.random.uuid();
    call.audit.note({ resource: { id, name }, owner: { orgId: org.id } });
    const judged = await judgeConditions(call, tx, call.body.conditions, { orgId: org.id, partnerId: org.partnerId });
    await refuseOverLimit(call, tx, org.id);
    const now = call.clock.now();
    await tx
      .insertInto("savedFilters")
      .values({ id, orgId: org.id, name, description, ...judged, createdBy: userId, createdAt: now, updatedAt: now })
      .execute();
    return getFilter(tx, id);
  });
}

/** Filters of one organization are made one after the other, so that none slips past the limit. */
async function refuseOverLimit({ services }: Pick<Call, "services">, tx: Tx, orgId: string): Promise<void> {
  await lockText(tx, services.store.dialect, `saved filters of ${orgId}`);
  const { count } = await tx
    .selectFrom("savedFilters")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("orgId", "=", orgId)
    .executeTakeFirstOrThrow();
  if (Number(count) >= FILTERS_MAX)
    throw problem("LIMIT_REACHED", {
      message: `An organization has at most ${FILTERS_MAX} saved filters`,
      details: { limit: "filters", max: FILTERS_MAX, current: Number(count) },
    });
}
