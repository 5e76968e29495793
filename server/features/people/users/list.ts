import type { Endpoint } from "#contract/core/endpoint";
import type { users } from "#contract/resources/people/users";
import { paginate } from "#server/db/paginate";
import { targetOf } from "#server/features/people/core/target";
import type { Call } from "#server/http/call";
import { findMember, matching, organizationMembers, partnerMembers, selectedOrgs, viewMember } from "./queries.ts";

type ListCall = typeof users.list extends Endpoint<infer T> ? Call<T> : never;
type GetCall = typeof users.get extends Endpoint<infer T> ? Call<T> : never;

/** Members of the target, by name. */
export async function listUsers(call: ListCall) {
  const target = await targetOf(call, call.query);
  if (target.kind === "organization") {
    const page = await paginate(organizationMembers(call.db, target.orgId).where(matching(call.query)), call.query);
    return { ...page, data: page.data.map(viewMember) };
  }
  const page = await paginate(partnerMembers(call.db, target.partnerId).where(matching(call.query)), call.query);
  const orgs = await selectedOrgs(
    call.db,
    page.data.map((row) => row.membershipId),
  );
  const data = page.data.map((row) => ({ ...viewMember(row), orgIds: orgs.get(row.membershipId) ?? [] }));
  return { ...page, data };
}

/** A member of the target; a user who is none does not exist. */
export async function getUser(call: GetCall) {
  const { pending: _, ...member } = await findMember(call.db, await targetOf(call, call.query), call.params.id);
  return member;
}
