import type { deviceRoles, osTypes } from "#contract/core/device-words";
import type { FeatureType } from "#contract/core/generated/policy-features";
import type { policyLevels, policyStatuses } from "#contract/core/policy-words";
import type { Fixed, Json } from "../column-types.ts";
import type { Declared } from "../table-declaration.ts";

/** Settings for devices, by feature types (docs/configuration-policies.md); of an organization or a whole partner. */
export interface ConfigurationPoliciesTable {
  id: Fixed<string>;
  orgId: Fixed<string | null>;
  partnerId: Fixed<string | null>;
  name: string;
  description: string | null;
  status: (typeof policyStatuses)[number];
  /** One more with every change. */
  version: number;
  createdBy: Fixed<string | null>;
  createdAt: Fixed<string>;
  updatedAt: string;
}

/** One of each type in a policy, whose owner it has. */
export interface ConfigurationPolicyFeaturesTable {
  id: Fixed<string>;
  policyId: Fixed<string>;
  orgId: Fixed<string | null>;
  partnerId: Fixed<string | null>;
  type: Fixed<FeatureType>;
  settings: Json;
}

/** What a policy covers. It belongs to the organization in which its target lies, whoever owns the policy. */
export interface ConfigurationPolicyAssignmentsTable {
  id: Fixed<string>;
  policyId: Fixed<string>;
  /** Null: the whole partner is the target. */
  orgId: Fixed<string | null>;
  partnerId: Fixed<string | null>;
  level: Fixed<(typeof policyLevels)[number]>;
  targetId: Fixed<string>;
  /** The target again, where it is one of these. */
  siteId: Fixed<string | null>;
  groupId: Fixed<string | null>;
  deviceId: Fixed<string | null>;
  priority: number;
  /** Null: devices of every role, of every system. */
  roleFilter: (typeof deviceRoles)[number][] | null;
  osFilter: (typeof osTypes)[number][] | null;
  assignedBy: string | null;
  createdAt: Fixed<string>;
}

export interface AutomationTables {
  configurationPolicies: ConfigurationPoliciesTable;
  configurationPolicyFeatures: ConfigurationPolicyFeaturesTable;
  configurationPolicyAssignments: ConfigurationPolicyAssignmentsTable;
}

const writtenBy = "automation/configuration-policies";

export const automationTables = {
  configurationPolicies: { owner: "tenant-shared", writtenBy },
  configurationPolicyFeatures: { owner: "tenant-shared", writtenBy, json: ["settings"] },
  configurationPolicyAssignments: { owner: "tenant-shared", writtenBy, json: ["roleFilter", "osFilter"] },
} as const satisfies Declared<AutomationTables>;
