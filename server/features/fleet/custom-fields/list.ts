import type { Endpoint } from "#contract/core/endpoint";
import type { customFields } from "#contract/resources/fleet/custom-fields";
import { getNamedOrg, listedOrgs } from "#server/access/org-access";
import { withOrgNames } from "#server/access/place-names";
import { hasElement } from "#server/db/dialect/json";
import { contains } from "#server/db/dialect/text";
import { paginate } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { view } from "./queries.ts";

type ListCall = typeof customFields.list extends Endpoint<infer T> ? Call<T> : never;

/** Those of the organizations that lists show and of their partner, or of one organization and its partner; newest first. */
export async function listFields(call: ListCall) {
  const { orgId, type, deviceType, search } = call.query;
  const orgs = await listedOrgs(call, orgId);
  const partnerId = orgId === undefined ? undefined : (await getNamedOrg(call, orgId)).partnerId;
  let query = call.db
    .selectFrom("customFields")
    .selectAll()
    .where((eb) => {
      const shared = eb("orgId", "is", null);
      const ofPartner = partnerId === undefined ? shared : eb.and([shared, eb("partnerId", "=", partnerId)]);
      return eb.or([ofPartner, eb("orgId", "in", orgs)]);
    });
  if (type !== undefined) query = query.where("type", "=", type);
  if (deviceType !== undefined) {
    const { dialect } = call.services.store;
    query = query.where((eb) =>
      eb.or([eb("deviceTypes", "is", null), hasElement(eb.ref("deviceTypes").$notNull(), deviceType, dialect)]),
    );
  }
  if (search)
    query = query.where((eb) => eb.or([contains(eb.ref("name"), search), contains(eb.ref("fieldKey"), search)]));
  const page = await paginate(query.orderBy("createdAt", "desc").orderBy("id", "desc"), call.query);
  return { ...page, data: await withOrgNames(call.db, page.data.map(view)) };
}
