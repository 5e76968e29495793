import type { Endpoint } from "#contract/core/endpoint";
import type { FeatureType } from "#contract/core/generated/policy-features";
import type { configurationPolicies } from "#contract/resources/automation/configuration-policies";
import { getNamedOrg, orgsInList } from "#server/access/org-access";
import { ownerScopeOf } from "#server/access/owner-rule";
import { withOrgNames } from "#server/access/place-names";
import { among } from "#server/db/dialect/json";
import { containsPattern, matches } from "#server/db/dialect/text";
import { preparedPage } from "#server/db/paginate";
import { preparedRows } from "#server/db/prepared";
import type { Call } from "#server/http/call";
import { type Sight, seenAssignments, sightOf } from "./seen.ts";

type ListCall = typeof configurationPolicies.list extends Endpoint<infer T> ? Call<T> : never;

/** Newest first, without settings (docs/configuration-policies.md, "What people see"). */
export async function listPolicies(call: ListCall) {
  const { orgId, status, featureType, search } = call.query;
  const partnerId = orgId === undefined ? undefined : (await getNamedOrg(call, orgId)).partnerId;
  const pattern = search ? containsPattern(search) : undefined;
  const sight = sightOf(call.who);
  const page = await pageOf(call.db, call.query, { orgId, partnerId, status, featureType, pattern }, sight);
  const ids = page.data.map(({ id }) => id);
  const types = await typesOf(call.db, { ids }, null);
  const counts = new Map((await countsOf(call.db, { ids }, sight)).map((one) => [one.policyId, Number(one.count)]));
  const named = await withOrgNames(call.db, page.data);
  const data = named.map((policy) => ({
    ...policy,
    ownerScope: ownerScopeOf(policy),
    featureTypes: types.filter(({ policyId }) => policyId === policy.id).map(({ type }) => type),
    assignmentCount: counts.get(policy.id) ?? 0,
  }));
  return { ...page, data };
}

interface Asked {
  [name: string]: string | undefined;
  orgId: string | undefined;
  partnerId: string | undefined;
  status: ListCall["query"]["status"];
  featureType: FeatureType | undefined;
  pattern: string | undefined;
}

const pageOf = preparedPage((db, { orgId, partnerId, status, featureType, pattern }: Asked, sight: Sight) => {
  let query = db
    .selectFrom("configurationPolicies as policy")
    .selectAll()
    .where((eb) => {
      const covering = seenAssignments(db, sight)
        .select("assigned.id")
        .where("assigned.policyId", "=", eb.ref("policy.id"));
      const shared = [
        eb("policy.orgId", "is", null),
        ...(partnerId === undefined ? [] : [eb("policy.partnerId", "=", partnerId)]),
        ...(orgId === undefined
          ? sight.ofOrganization
            ? [eb.exists(covering)]
            : []
          : [
              eb.exists(
                covering.where((of) => of.or([of("assigned.orgId", "=", orgId), of("assigned.orgId", "is", null)])),
              ),
            ]),
      ];
      return eb.or([eb.and(shared), eb("policy.orgId", "in", orgsInList(orgId))]);
    });
  if (status !== undefined) query = query.where("policy.status", "=", status);
  if (featureType !== undefined)
    query = query.where((eb) =>
      eb.exists(
        eb
          .selectFrom("configurationPolicyFeatures as feature")
          .select("feature.id")
          .whereRef("feature.policyId", "=", "policy.id")
          .where("feature.type", "=", featureType),
      ),
    );
  if (pattern !== undefined) query = query.where((eb) => matches(eb.ref("policy.name"), pattern));
  return query.orderBy("policy.createdAt", "desc").orderBy("policy.id", "desc");
});

const typesOf = preparedRows((db, { ids }: { ids: string[] }) =>
  db
    .selectFrom("configurationPolicyFeatures")
    .select(["policyId", "type"])
    .where((eb) => among(db, eb.ref("policyId"), ids))
    .orderBy("type"),
);

const countsOf = preparedRows((db, { ids }: { ids: string[] }, sight: Sight) =>
  seenAssignments(db, sight)
    .select((eb) => ["assigned.policyId", eb.fn.countAll<number>().as("count")])
    .where((eb) => among(db, eb.ref("assigned.policyId"), ids))
    .groupBy("assigned.policyId"),
);
