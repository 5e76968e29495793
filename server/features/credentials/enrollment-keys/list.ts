import type { Endpoint } from "#contract/core/endpoint";
import type { enrollmentKeys } from "#contract/resources/credentials/enrollment-keys";
import { listedOrgs } from "#server/access/org-access";
import { withOrgNames, withSiteNames } from "#server/access/place-names";
import { paginate } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { enrollmentKeyColumns } from "./get-enrollment-key.ts";

type ListCall = typeof enrollmentKeys.list extends Endpoint<infer T> ? Call<T> : never;

/** Newest first; callers confined to sites see the keys of those sites (docs/conventions.md, "Site rule"). */
export async function listEnrollmentKeys(call: ListCall) {
  const { orgId, expired } = call.query;
  const orgs = await listedOrgs(call, orgId);
  let query = call.db
    .selectFrom("enrollmentKeys")
    .select(enrollmentKeyColumns)
    .where("enrollmentKeys.orgId", "in", orgs);
  if (expired !== undefined) {
    query = query.where("enrollmentKeys.expiresAt", expired ? "<=" : ">", call.clock.now());
  }
  const page = await paginate(
    query.orderBy("enrollmentKeys.createdAt", "desc").orderBy("enrollmentKeys.id", "desc"),
    call.query,
  );
  return { ...page, data: await withSiteNames(call.db, await withOrgNames(call.db, page.data)) };
}
