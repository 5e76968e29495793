import type { Endpoint } from "#contract/core/endpoint";
import type { partnerServicePrincipals } from "#contract/resources/credentials/partner-service-principals";
import { fold } from "#server/db/dialect/text";
import type { Call } from "#server/http/call";
import { partnerFor, shownPrincipals } from "./queries.ts";

type ListCall = typeof partnerServicePrincipals.list extends Endpoint<infer T> ? Call<T> : never;

/** By name, whatever its case. */
export async function listPartnerPrincipals(call: ListCall) {
  const partnerId = await partnerFor(call, call.query.partnerId, call.db);
  const rows = await call.db
    .selectFrom("partnerServicePrincipals")
    .selectAll()
    .where("partnerId", "=", partnerId)
    .orderBy((eb) => fold(eb.ref("name")))
    .orderBy("id")
    .execute();
  return { data: await shownPrincipals(call.db, rows) };
}
