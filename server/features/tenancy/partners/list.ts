import type { Endpoint } from "#contract/core/endpoint";
import type { partners } from "#contract/resources/tenancy/partners";
import { paginate } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { partnerColumns } from "./queries.ts";

type ListCall = typeof partners.list extends Endpoint<infer T> ? Call<T> : never;

/** Oldest first. */
export async function listPartners(call: ListCall) {
  const query = call.db.selectFrom("partners").select(partnerColumns).orderBy("createdAt").orderBy("id");
  return paginate(query, call.query);
}
