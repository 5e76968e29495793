import type { Endpoint } from "#contract/core/endpoint";
import type { elevationRequests } from "#contract/resources/access-control/elevation-requests";
import type { Call } from "#server/http/call";
import { getElevation, withWait } from "./queries.ts";

type GetCall = typeof elevationRequests.get extends Endpoint<infer T> ? Call<T> : never;

/** With its ledger, in order. */
export async function showElevation(call: GetCall) {
  const elevation = await getElevation(call, call.db, call.params.id);
  const lines = await call.db
    .selectFrom("elevationAudit")
    .select(["event", "at", "actorType", "actorName", "facts"])
    .where("orgId", "=", elevation.orgId)
    .where("elevationRequestId", "=", elevation.id)
    .orderBy("position")
    .execute();
  return { ...withWait(call)(elevation), events: lines.map(({ facts, ...line }) => ({ ...line, details: facts })) };
}
