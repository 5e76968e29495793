import type { Endpoint } from "#contract/core/endpoint";
import type { customFields } from "#contract/resources/fleet/custom-fields";
import { getNamedOrg, orgsInList } from "#server/access/org-access";
import { withOrgNames } from "#server/access/place-names";
import type { DialectName } from "#server/db/dialect/index";
import { hasElement } from "#server/db/dialect/json";
import { containsPattern, matches } from "#server/db/dialect/text";
import { preparedPage } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { fieldColumns, view } from "./queries.ts";

type ListCall = typeof customFields.list extends Endpoint<infer T> ? Call<T> : never;

/** Those of the organizations that lists show and of their partner, or of one organization and its partner; newest first. */
export async function listFields(call: ListCall) {
  const { orgId, type, deviceType, search } = call.query;
  const partnerId = orgId === undefined ? undefined : (await getNamedOrg(call, orgId)).partnerId;
  const pattern = search ? containsPattern(search) : undefined;
  const { dialect } = call.services.store;
  const page = await pageOf(call.db, call.query, { orgId, partnerId, type, deviceType, pattern }, { dialect });
  return { ...page, data: await withOrgNames(call.db, page.data.map(view)) };
}

type Asked = { orgId: string | undefined; partnerId: string | undefined; pattern: string | undefined } & Pick<
  ListCall["query"],
  "type" | "deviceType"
>;

const pageOf = preparedPage((db, asked: Asked, { dialect }: { dialect: DialectName }) => {
  const { orgId, partnerId, type, deviceType, pattern } = asked;
  let query = db
    .selectFrom("customFields")
    .select(fieldColumns)
    .where((eb) => {
      const shared = eb("customFields.orgId", "is", null);
      const ofPartner =
        partnerId === undefined ? shared : eb.and([shared, eb("customFields.partnerId", "=", partnerId)]);
      return eb.or([ofPartner, eb("customFields.orgId", "in", orgsInList(orgId))]);
    });
  if (type !== undefined) query = query.where("customFields.type", "=", type);
  if (deviceType !== undefined)
    query = query.where((eb) => {
      const types = eb.ref("customFields.deviceTypes");
      return eb.or([eb("customFields.deviceTypes", "is", null), hasElement(types.$notNull(), deviceType, dialect)]);
    });
  if (pattern !== undefined)
    query = query.where((eb) =>
      eb.or([matches(eb.ref("customFields.name"), pattern), matches(eb.ref("customFields.fieldKey"), pattern)]),
    );
  return query.orderBy("customFields.createdAt", "desc").orderBy("customFields.id", "desc");
});
