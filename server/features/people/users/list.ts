import type { Endpoint } from "#contract/core/endpoint";
import type { users } from "#contract/resources/people/users";
import { containsPattern } from "#server/db/dialect/text";
import { preparedPage } from "#server/db/paginate";
import { targetOf } from "#server/features/people/core/target";
import type { Call } from "#server/http/call";
import {
  type Filters,
  findMember,
  matching,
  organizationMembers,
  partnerMembers,
  selectedOrgs,
  viewMember,
} from "./queries.ts";

type ListCall = typeof users.list extends Endpoint<infer T> ? Call<T> : never;
type GetCall = typeof users.get extends Endpoint<infer T> ? Call<T> : never;

/** Members of the target, by name. */
export async function listUsers(call: ListCall) {
  const target = await targetOf(call, call.query);
  const { status, search } = call.query;
  const filters = { status, pattern: search ? containsPattern(search) : undefined };
  if (target.kind === "organization") {
    const page = await ofOrganization(call.db, call.query, { ...filters, orgId: target.orgId }, null);
    return { ...page, data: page.data.map(viewMember) };
  }
  const page = await ofPartner(call.db, call.query, { ...filters, partnerId: target.partnerId }, null);
  const orgs = await selectedOrgs(
    call.db,
    page.data.map((row) => row.membershipId),
  );
  const data = page.data.map((row) => ({ ...viewMember(row), orgIds: orgs.get(row.membershipId) ?? [] }));
  return { ...page, data };
}

const ofOrganization = preparedPage((db, { orgId, ...filters }: Filters & { orgId: string }) =>
  organizationMembers(db, orgId).where(matching(filters)),
);

const ofPartner = preparedPage((db, { partnerId, ...filters }: Filters & { partnerId: string }) =>
  partnerMembers(db, partnerId).where(matching(filters)),
);

/** A member of the target; a user who is none does not exist. */
export async function getUser(call: GetCall) {
  const { pending: _, ...member } = await findMember(call.db, await targetOf(call, call.query), call.params.id);
  return member;
}
