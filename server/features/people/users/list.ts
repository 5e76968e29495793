import type { Endpoint } from "#contract/core/endpoint";
import type { users } from "#contract/resources/people/users";
import { contains } from "#server/db/dialect/text";
import { paginate } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { getMember, organizationMembers, partnerMembers, selectedOrgs, viewMember } from "./queries.ts";
import { targetOf } from "./target.ts";

type ListCall = typeof users.list extends Endpoint<infer T> ? Call<T> : never;
type GetCall = typeof users.get extends Endpoint<infer T> ? Call<T> : never;

/** Members of the target, by name. */
export async function listUsers(call: ListCall) {
  const target = await targetOf(call, call.query);
  if (target.kind === "organization") {
    const page = await paginate(filtered(organizationMembers(call.db, target.orgId), call.query), call.query);
    return { ...page, data: page.data.map(viewMember) };
  }
  const page = await paginate(filtered(partnerMembers(call.db, target.partnerId), call.query), call.query);
  const orgs = await selectedOrgs(
    call.db,
    page.data.map((row) => row.membershipId),
  );
  const data = page.data.map((row) => ({ ...viewMember(row), orgIds: orgs.get(row.membershipId) ?? [] }));
  return { ...page, data };
}

/** A member of the target; a user who is none does not exist. */
export async function getUser(call: GetCall) {
  return getMember(call.db, await targetOf(call, call.query), call.params.id);
}

type Filters = Pick<ListCall["query"], "status" | "search">;
type PartnerQuery = ReturnType<typeof partnerMembers>;
type OrganizationQuery = ReturnType<typeof organizationMembers>;

/** Both queries join users, which is all the filters look at. */
function filtered<Q extends PartnerQuery | OrganizationQuery>(members: Q, { status, search }: Filters): Q {
  let query = members as PartnerQuery;
  if (status !== undefined) query = query.where("users.status", "=", status);
  if (search !== undefined && search !== "") {
    query = query.where((eb) =>
      eb.or([contains(eb.ref("users.name"), search), contains(eb.ref("users.email"), search)]),
    );
  }
  return query as Q;
}
