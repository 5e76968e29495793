import type { Endpoint } from "#contract/core/endpoint";
import type { enrollmentKeys } from "#contract/resources/credentials/enrollment-keys";
import { getNamedOrg, orgsInList } from "#server/access/org-access";
import { withOrgNames, withSiteNames } from "#server/access/place-names";
import { preparedPage } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { enrollmentKeyColumns } from "./get-enrollment-key.ts";

type ListCall = typeof enrollmentKeys.list extends Endpoint<infer T> ? Call<T> : never;

/** Newest first; callers confined to sites see the keys of those sites (docs/conventions.md, "Site rule"). */
export async function listEnrollmentKeys(call: ListCall) {
  const { orgId, expired } = call.query;
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  const page = await pageOf(call.db, call.query, { orgId, expired, now: call.clock.now() }, null);
  return { ...page, data: await withSiteNames(call.db, await withOrgNames(call.db, page.data)) };
}

type Asked = { orgId: string | undefined; expired: boolean | undefined; now: string };

const pageOf = preparedPage((db, { orgId, expired, now }: Asked) =>
  db
    .selectFrom("enrollmentKeys")
    .select(enrollmentKeyColumns)
    .where("enrollmentKeys.orgId", "in", orgsInList(orgId))
    .$if(expired !== undefined, (query) => query.where("enrollmentKeys.expiresAt", expired ? "<=" : ">", now))
    .orderBy("enrollmentKeys.createdAt", "desc")
    .orderBy("enrollmentKeys.id", "desc"),
);
