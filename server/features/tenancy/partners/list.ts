import type { Endpoint } from "#contract/core/endpoint";
import type { partners } from "#contract/resources/tenancy/partners";
import { preparedPage } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { partnerColumns } from "./queries.ts";

type ListCall = typeof partners.list extends Endpoint<infer T> ? Call<T> : never;

/** Oldest first. */
export const listPartners = (call: ListCall) => pageOf(call.db, call.query, {}, null);

const pageOf = preparedPage((db) =>
  db.selectFrom("partners").select(partnerColumns).orderBy("createdAt").orderBy("id"),
);
