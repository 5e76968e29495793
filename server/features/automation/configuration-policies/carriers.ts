import type { Kysely } from "kysely";
import type { FeatureType } from "#contract/core/generated/policy-features";
import { preparedRows } from "#server/db/prepared";
import type { Database } from "#server/db/tables";

/** Active policies that carry one of the types, and are assigned. */
const carriers = (db: Kysely<Database>, types: readonly FeatureType[]) =>
  db
    .selectFrom("configurationPolicyAssignments as assigned")
    .innerJoin("configurationPolicies as policy", "policy.id", "assigned.policyId")
    .innerJoin("configurationPolicyFeatures as feature", "feature.policyId", "policy.id")
    .where("policy.status", "=", "active")
    .where("feature.type", "in", types)
    .select(["assigned.id", "assigned.level", "assigned.targetId", "assigned.priority", "assigned.createdAt"])
    .select(["assigned.roleFilter", "assigned.osFilter", "policy.id as policyId", "policy.name as policyName"])
    .select(["feature.type", "feature.settings"]);

interface Form {
  readonly types: readonly FeatureType[];
}

/** What is assigned to the device, to a group of it, or to what it stands in; filters are not judged yet. */
export const carriersOf = preparedRows(
  (db, { deviceId }: { deviceId: string }, { types }: Form) =>
    carriers(db, types)
      .innerJoin("devices", (join) =>
        join.on((eb) => {
          const at = (
            level: "device" | "site" | "organization" | "partner",
            column: "id" | "siteId" | "orgId" | "partnerId",
          ) => eb.and([eb("assigned.level", "=", level), eb("assigned.targetId", "=", eb.ref(`devices.${column}`))]);
          const groups = eb
            .selectFrom("deviceGroupMembers")
            .select("deviceGroupMembers.groupId")
            .where("deviceGroupMembers.deviceId", "=", deviceId);
          return eb.or([
            at("device", "id"),
            eb.and([eb("assigned.level", "=", "device_group"), eb("assigned.targetId", "in", groups)]),
            at("site", "siteId"),
            at("organization", "orgId"),
            at("partner", "partnerId"),
          ]);
        }),
      )
      .where("devices.id", "=", deviceId)
      .where((eb) =>
        eb.or([
          eb("policy.orgId", "=", eb.ref("devices.orgId")),
          eb.and([eb("policy.orgId", "is", null), eb("policy.partnerId", "=", eb.ref("devices.partnerId"))]),
        ]),
      )
      .select(["devices.deviceRole", "devices.osType"]),
  { by: "key" },
);

/** What is assigned to the organization itself, or to its partner. */
export const carriersOfOrganization = preparedRows(
  (db, { orgId }: { orgId: string }, { types }: Form) =>
    carriers(db, types)
      .innerJoin("organizations", (join) =>
        join.on((eb) =>
          eb.or([
            eb.and([
              eb("assigned.level", "=", "organization"),
              eb("assigned.targetId", "=", eb.ref("organizations.id")),
            ]),
            eb.and([
              eb("assigned.level", "=", "partner"),
              eb("assigned.targetId", "=", eb.ref("organizations.partnerId")),
            ]),
          ]),
        ),
      )
      .where("organizations.id", "=", orgId)
      .where((eb) =>
        eb.or([
          eb("policy.orgId", "=", eb.ref("organizations.id")),
          eb.and([eb("policy.orgId", "is", null), eb("policy.partnerId", "=", eb.ref("organizations.partnerId"))]),
        ]),
      ),
  { by: "key" },
);

export type Carrier = Awaited<ReturnType<typeof carriersOfOrganization>>[number];
