import type { ExpressionBuilder } from "kysely";
import type { Principal } from "#server/access/principal";
import type { Database } from "#server/db/tables";
import type { Reader } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

export type Assigned = Database & { assigned: Database["configurationPolicyAssignments"] };

/** What decides which assignments somebody sees, beside the tenant scope. */
export interface Sight {
  /** Member of one organization: of a whole partner's policies he sees those that cover it. */
  readonly ofOrganization: boolean;
  /** Confined to sites: targets at other sites are foreign. */
  readonly confined: boolean;
}

export const sightOf = (who: Principal): Sight => ({
  ofOrganization: who.kind !== "user" || who.scope === "organization",
  confined: who.kind === "user" && who.allowedSiteIds !== null,
});

/**
 * The assignments that a caller sees (docs/configuration-policies.md, "What people see"). Each belongs to the
 * organization of its target, so the tenant scope leaves out foreign ones; people confined to sites see what their
 * sites, groups and devices are assigned, besides what holds for the whole organization.
 */
export function seenAssignments(db: Reader, { confined }: Sight) {
  const all = db.selectFrom("configurationPolicyAssignments as assigned");
  return confined ? all.where((eb) => eb.or(atOwnSites(eb as ExpressionBuilder<Assigned, "assigned">))) : all;
}

function atOwnSites(eb: ExpressionBuilder<Assigned, "assigned">) {
  const own = (table: "sites" | "devices" | "deviceGroups", column: "siteId" | "deviceId" | "groupId") =>
    eb.exists(
      eb
        .selectFrom(table as "sites")
        .select(`${table as "sites"}.id`)
        .whereRef(`${table as "sites"}.id`, "=", `assigned.${column}`),
    );
  // A group of the whole organization covers the devices of theirs that it has.
  const members = eb
    .selectFrom("deviceGroupMembers")
    .innerJoin("devices", "devices.id", "deviceGroupMembers.deviceId")
    .select("devices.id")
    .whereRef("deviceGroupMembers.groupId", "=", "assigned.groupId");
  return [
    eb("assigned.level", "in", ["organization", "partner"]),
    own("sites", "siteId"),
    own("devices", "deviceId"),
    own("deviceGroups", "groupId"),
    eb.exists(members),
  ];
}

/** NOT_FOUND, also for another tenant's policy and for one of the partner that does not cover the caller's organization. */
export async function getPolicy(call: Pick<Call, "who">, db: Reader, id: string) {
  const policy = await db.selectFrom("configurationPolicies").selectAll().where("id", "=", id).executeTakeFirst();
  if (!policy) throw problem("NOT_FOUND");
  const sight = sightOf(call.who);
  if (policy.orgId !== null || !sight.ofOrganization) return policy;
  const covered = await seenAssignments(db, sight)
    .select("assigned.id")
    .where("assigned.policyId", "=", id)
    .executeTakeFirst();
  if (!covered) throw problem("NOT_FOUND");
  return policy;
}

export type Policy = Awaited<ReturnType<typeof getPolicy>>;
